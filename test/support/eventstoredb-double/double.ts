import gossip from '@eventstore/db-client/generated/gossip_pb.js'
import { insecure, type Secured, securedBy } from './access.ts'
import { commits } from './commits.ts'
import type { Proposed, Stored } from './log.ts'
import { eventLog } from './log.ts'
import { eventStoreDbNode } from './node.ts'

type Options = {
  /** Whether other applications write to the same server. */
  neighbours?: boolean
  /** How long a write may take before the server says that it gave up waiting. */
  givesUpMs?: number
  /** With TLS and users; else everybody may do everything. */
  secured?: Secured
}

/** A single insecure node on a port of its own, which behaves as the facts on EventStoreDB say. */
export const eventStoreDbDouble = async (options: Options = {}) => {
  const { neighbours = true, givesUpMs, secured } = options
  const log = eventLog(neighbours)
  const committing = commits(log)
  const node = await eventStoreDbNode({
    log,
    commits: committing,
    gossip: () => new gossip.ClusterInfo(),
    access: secured ? securedBy(secured) : insecure,
    givesUpMs,
  })
  const { start, stop, dropSubscriptions, appends, reads, refuseCheckpoints } = node
  return {
    port: node.port,
    url: `esdb://127.0.0.1:${node.port}?tls=false`,
    start,
    stop,
    dropSubscriptions,
    reads,
    refuseCheckpoints,
    loseAnswers: appends.loseAnswers,
    elect: appends.elect,
    /** How many appends have come, with those that were refused or not answered. */
    received: appends.received,
    /** How many calls they came on. */
    appendCalls: appends.calls,
    /** Resolves as soon as an event is committed that fits and is later than all there are. */
    committed: (fits: (event: Stored) => boolean) =>
      new Promise<void>((resolve) => {
        let seen = log.all.length
        const look = () => {
          const isMatch = log.all.slice(seen).some(fits)
          seen = log.all.length
          if (!isMatch) return
          committing.committed.off('committed', look)
          resolve()
        }
        committing.committed.on('committed', look)
      }),
    /** From now on nothing is committed, until it is released or lost. */
    holdCommits: committing.hold,
    /** Another application's append. */
    write: (stream: string, events: readonly Proposed[]) =>
      new Promise<void>((resolve) => {
        log.append(stream, 'any', events)
        committing.after(resolve)
      }),
    log,
  }
}
