import { Resolver } from 'node:dns/promises'
import { isIP, type LookupFunction } from 'node:net'
import { Agent, fetch } from 'undici'
import { type Outbound, OutboundRefused } from '../../ports/outbound.ts'
import { isPublic } from './addresses.ts'

/** Every address of a host name. */
export type Resolve = (hostname: string) => Promise<readonly { address: string; family: number }[]>

type Options = {
  /** Hosts (`host` or `host:port`, lower case) that may be private and asked without TLS. */
  allowHosts?: readonly string[]
  resolve?: Resolve
  /** Which addresses may be connected to. */
  isOpen?: (address: string) => boolean
  /** To connect, and from the request to the headers of its answer. */
  connectMs?: number
  headersMs?: number
}

const notPublic = () => new OutboundRefused('the host has an address that is not public')

/**
 * Resolves a name once, for the connection that is then made to one of these very addresses: there
 * is no second look-up that could answer otherwise. One address that is not public refuses all.
 */
const guardedLookup =
  (resolve: Resolve, isOpen: (address: string) => boolean): LookupFunction =>
  (hostname, { all }, callback) => {
    resolve(hostname)
      .then((found) => {
        const [first] = found
        if (!first) throw new OutboundRefused('the host has no address')
        if (!found.every(({ address }) => isOpen(address))) throw notPublic()
        if (all) callback(null, [...found])
        else callback(null, first.address, first.family)
      })
      .catch((error: Error) => callback(error, ''))
  }

/**
 * Asks the name servers and not the system: its look-ups share a few threads with the disk, which
 * a name server that takes its time must not hold up.
 */
const nameServers = (): Resolve => {
  const resolver = new Resolver({ timeout: 2_000, tries: 2 })
  return async (hostname) => {
    const asked = [resolver.resolve4(hostname), resolver.resolve6(hostname)]
    const found = await Promise.allSettled(asked)
    return found
      .flatMap((one) => (one.status === 'fulfilled' ? one.value : []))
      .map((address) => ({ address, family: isIP(address) }))
  }
}

const ports: Readonly<Record<string, string>> = { 'https:': '443', 'http:': '80' }

/** The address in a URL's host, without the brackets of IPv6; undefined for a name. */
const literalIn = ({ hostname }: URL): string | undefined => {
  const bare = hostname.replace(/^\[|\]$/g, '')
  return isIP(bare) ? bare : undefined
}

/** What undici wraps in a TypeError, where it is one of ours. */
const refusalIn = (error: unknown): OutboundRefused | undefined => {
  for (let cause = error; cause instanceof Error; cause = cause.cause)
    if (cause instanceof OutboundRefused) return cause
  return undefined
}

/** HTTP to whatever users name, without letting them reach what is ours. */
export const guardedOutbound = (options: Options = {}): Outbound & { close(): Promise<void> } => {
  const { allowHosts = [], isOpen = isPublic, connectMs = 5_000, headersMs = 30_000 } = options
  const { resolve = nameServers() } = options
  const allowed = new Set(allowHosts)
  const limits = { headersTimeout: headersMs, bodyTimeout: headersMs, connections: 128 }
  const timed = { timeout: connectMs }
  const guarded = new Agent({
    ...limits,
    connect: { ...timed, lookup: guardedLookup(resolve, isOpen) },
  })
  const trusted = new Agent({ ...limits, connect: timed })

  const isTrusted = ({ hostname, port, protocol }: URL): boolean =>
    allowed.has(hostname) || allowed.has(`${hostname}:${port || ports[protocol]}`)

  const agentFor = (url: URL): Agent => {
    if (!(url.protocol in ports)) throw new OutboundRefused('only http and https are spoken')
    if (url.username !== '' || url.password !== '')
      throw new OutboundRefused('a user name or password in the address is refused')
    if (isTrusted(url)) return trusted
    if (url.protocol !== 'https:') throw new OutboundRefused('only https is allowed')
    const literal = literalIn(url)
    if (literal !== undefined && !isOpen(literal)) throw notPublic()
    return guarded
  }

  return {
    async fetch(address, init = {}) {
      const url = new URL(address)
      const dispatcher = agentFor(url)
      try {
        const asked = { ...init, redirect: 'manual', dispatcher } as Parameters<typeof fetch>[1]
        return (await fetch(url, asked)) as unknown as Response
      } catch (error) {
        throw refusalIn(error) ?? error
      }
    },
    async close() {
      await Promise.all([guarded.destroy(), trusted.destroy()])
    },
  }
}
