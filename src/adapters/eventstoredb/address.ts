/** The address as a message may show it: without the password. */
const withoutPassword = (url: string): string => url.replace(/(:\/\/[^:@/]+:)[^@]*@/, '$1…@')

const parts = /^(esdb(?:\+discover)?):\/\/((?:[^:@]+:[^@]+@)?)([^/?@]+)\/*(\?.*)?$/

/**
 * What is wrong with the address of an EventStoreDB, as one line that says what to write instead;
 * undefined when nothing is. The client takes some addresses and then does not do what they say.
 */
export const refusedAddress = (url: string): string | undefined => {
  const match = parts.exec(url.trim())
  if (!match)
    return 'must be esdb://host:2113?tls=true, or esdb://a:2113,b:2113,c:2113?tls=true for a cluster'
  const [, scheme, credentials = '', list = '', options = ''] = match
  const hosts = list.split(',').map((host) => host.trim())
  const wrong = hosts.find((host) => !/^[\w.-]+(:\d{1,5})?$/.test(host))
  if (wrong !== undefined) return `has a host that cannot be read: "${wrong}"`
  const instead = withoutPassword(`esdb://${credentials}${hosts.join(',')}${options}`)
  if (scheme === 'esdb+discover' && hosts.length > 1)
    return `names several hosts with esdb+discover, which asks only the first: write ${instead}`
  if (/[?&]throwonappendfailure=false/i.test(options))
    return 'must not turn throwOnAppendFailure off: leave the option out'
  if (/[?&]tlsverifycert=false/i.test(options))
    return 'has tlsVerifyCert=false, which the client does not support: give tlsCAFile=/path/ca.crt'
  return undefined
}

const has = (url: string, option: string) => new RegExp(`[?&]${option}=`, 'i').test(url)

/**
 * The address with discovery that fails early where it says nothing else: a node that does not
 * answer is passed over after a second, and who asks decides whether to try again.
 */
export const withQuickDiscovery = (url: string): string =>
  Object.entries({ gossipTimeout: 1, maxDiscoverAttempts: 1 })
    .filter(([option]) => !has(url, option))
    .reduce((address, [option, value]) => {
      const mark = address.includes('?') ? '&' : '?'
      return `${address.replace(/\/+$/, '')}${mark}${option}=${value}`
    }, url.trim())

/** How long the address lets a request take, in milliseconds: its option `defaultDeadline`. */
export const deadlineOf = (url: string): number | undefined => {
  const [, ms] = /[?&]defaultDeadline=(\d+)/i.exec(url) ?? []
  return ms === undefined ? undefined : Number(ms)
}
