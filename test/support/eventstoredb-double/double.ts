import gossip from '@eventstore/db-client/generated/gossip_pb.js'
import { commits } from './commits.ts'
import type { Proposed } from './log.ts'
import { eventLog } from './log.ts'
import { eventStoreDbNode } from './node.ts'

type Options = {
  /** Whether other applications write to the same server. */
  neighbours?: boolean
}

/** A single insecure node on a port of its own, which behaves as the facts on EventStoreDB say. */
export const eventStoreDbDouble = async ({ neighbours = true }: Options = {}) => {
  const log = eventLog(neighbours)
  const committing = commits(log)
  const node = await eventStoreDbNode(log, committing, () => new gossip.ClusterInfo())
  const { start, stop, dropSubscriptions, appends, reads } = node
  return {
    url: `esdb://127.0.0.1:${node.port}?tls=false`,
    start,
    stop,
    dropSubscriptions,
    reads,
    loseAnswers: appends.loseAnswers,
    elect: appends.elect,
    /** How many appends have come, with those that were refused or not answered. */
    received: appends.received,
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
