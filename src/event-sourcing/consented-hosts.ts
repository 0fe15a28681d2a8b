import { LRUCache } from 'lru-cache'
import { credentialHosts } from '../domain/agent/credential-hosts.ts'
import { agentEvents } from '../domain/agent/events.ts'
import {
  organizationAgents,
  organizationAgentsStream,
} from '../domain/agent/organization-agents.ts'
import { evolved } from '../domain/aggregate.ts'
import type { EventStore } from '../ports/event-store.ts'
import { atMost } from '../support/at-most.ts'
import { yieldToEventLoop } from '../support/yield-to-event-loop.ts'
import { decoder } from './codec.ts'

/** Values stored without hosts whose hosts are kept. */
const mostKept = 10_000

const decode = decoder(agentEvents)

type Stored = {
  organization_id: string
  name: string
  hosts?: readonly string[] | undefined
  updated_at: string
}

/**
 * The hosts that a value may be sent to. For a value from before hosts were stored with it: those
 * of the tools that named it when it was stored.
 */
export const consentedHosts = (read: EventStore['read']) => {
  const known = new LRUCache<string, Promise<readonly string[]>>(atMost(mostKept))

  const hostsAt = async (organizationId: string, name: string, at: string) => {
    let state = organizationAgents.initial
    for await (const batch of read(organizationAgentsStream(organizationId).name)) {
      const before = batch.map(decode).filter(({ metadata }) => metadata.at <= at)
      state = evolved(organizationAgents, state, before)
      if (before.length < batch.length) break
      await yieldToEventLoop()
    }
    return credentialHosts(Object.values(state.agents)).get(name) ?? []
  }

  return async (stored: Stored): Promise<readonly string[]> => {
    const { organization_id, name, hosts, updated_at } = stored
    if (hosts) return hosts
    const key = `${organization_id} ${name} ${updated_at}`
    const pendingHosts = known.get(key) ?? hostsAt(organization_id, name, updated_at)
    known.set(key, pendingHosts)
    pendingHosts.catch(() => known.delete(key))
    return pendingHosts
  }
}
