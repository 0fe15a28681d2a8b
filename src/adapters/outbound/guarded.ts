import { Resolver } from 'node:dns/promises'
import { isIP, type LookupFunction } from 'node:net'
import { Agent, fetch } from 'undici'
import { type Outbound, OutboundRefused } from '../../ports/outbound.ts'
import { type AddressOptions, addressRules, notPublic } from './address-rules.ts'
import { isPublic } from './addresses.ts'

/** Every address of a host name. */
export type Resolve = (hostname: string) => Promise<readonly { address: string; family: number }[]>

type Options = AddressOptions & {
  resolve?: Resolve
  /** For connecting, and from the request to the headers of the answer. */
  connectMs?: number
  headersMs?: number
}

/**
 * Resolves a name once; the connection then uses one of these addresses, so no second look-up can
 * give others. If one address is not public, the name is refused.
 */
const guardedLookup =
  (resolve: Resolve, isOpen: (address: string) => boolean): LookupFunction =>
  (hostname, { all }, callback) => {
    resolve(hostname)
      .then((addresses) => {
        const [first] = addresses
        if (!first) throw new OutboundRefused('the host has no address')
        if (!addresses.every(({ address }) => isOpen(address))) throw new OutboundRefused(notPublic)
        if (all) callback(null, [...addresses])
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
    const lookups = [resolver.resolve4(hostname), resolver.resolve6(hostname)]
    const results = await Promise.allSettled(lookups)
    return results
      .flatMap((result) => (result.status === 'fulfilled' ? result.value : []))
      .map((address) => ({ address, family: isIP(address) }))
  }
}

/** One of our errors that undici has wrapped in a TypeError. */
const refusalIn = (error: unknown): OutboundRefused | undefined => {
  for (let cause = error; cause instanceof Error; cause = cause.cause)
    if (cause instanceof OutboundRefused) return cause
  return undefined
}

/** HTTP to hosts that users name, but not to private ones. */
export const guardedOutbound = (options: Options = {}): Outbound & { close(): Promise<void> } => {
  const { isOpen = isPublic, connectMs = 5_000, headersMs = 30_000 } = options
  const { resolve = nameServers() } = options
  const rules = addressRules(options)
  const limits = { headersTimeout: headersMs, bodyTimeout: headersMs, connections: 128 }
  const timed = { timeout: connectMs }
  const guarded = new Agent({
    ...limits,
    connect: { ...timed, lookup: guardedLookup(resolve, isOpen) },
  })
  const trusted = new Agent({ ...limits, connect: timed })

  const agentFor = (url: URL): Agent => {
    const fault = rules.faultOf(url)
    if (fault !== undefined) throw new OutboundRefused(fault)
    return rules.isTrusted(url) ? trusted : guarded
  }

  return {
    async fetch(address, init = {}) {
      const url = new URL(address)
      const dispatcher = agentFor(url)
      try {
        const options = { ...init, redirect: 'manual', dispatcher } as Parameters<typeof fetch>[1]
        return (await fetch(url, options)) as unknown as Response
      } catch (error) {
        throw refusalIn(error) ?? error
      }
    },
    async close() {
      await Promise.all([guarded.destroy(), trusted.destroy()])
    },
  }
}
