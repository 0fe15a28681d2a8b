import { Resolver } from 'node:dns/promises'
import { isIP, type LookupFunction } from 'node:net'
import { Agent, fetch } from 'undici'
import { type Outbound, OutboundRefused } from '../../ports/outbound.ts'
import { isPublic } from './addresses.ts'

/** Every address of a host name. */
export type Resolve = (hostname: string) => Promise<readonly { address: string; family: number }[]>

type Options = {
  /** Hosts (`host` or `host:port`, in lower case) that may be private, and need no TLS. */
  allowHosts?: readonly string[]
  resolve?: Resolve
  /** Whether an address may be connected to. */
  isOpen?: (address: string) => boolean
  /** For connecting, and from the request to the headers of the answer. */
  connectMs?: number
  headersMs?: number
}

const notPublic = () => new OutboundRefused('the host has an address that is not public')

/**
 * Resolves a name once; the connection then uses one of these addresses, so no second look-up can
 * give others. If one address is not public, the name is refused.
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
 * Asks the name servers directly: look-ups by the system share a few threads with the disk, so a
 * slow name server would delay it.
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

/** One of our errors that undici has wrapped in a TypeError. */
const refusalIn = (error: unknown): OutboundRefused | undefined => {
  for (let cause = error; cause instanceof Error; cause = cause.cause)
    if (cause instanceof OutboundRefused) return cause
  return undefined
}

/** HTTP to hosts that users name, but not to private ones. */
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
