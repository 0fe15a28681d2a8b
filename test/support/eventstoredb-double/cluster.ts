import { randomUUID } from 'node:crypto'
import gossip from '@eventstore/db-client/generated/gossip_pb.js'
import shared from '@eventstore/db-client/generated/shared_pb.js'
import { insecure } from './access.ts'
import type { Electing } from './appending.ts'
import { commits } from './commits.ts'
import { eventLog } from './log.ts'
import { type EventStoreDbNode, eventStoreDbNode } from './node.ts'

const { LEADER, FOLLOWER, UNKNOWN } = gossip.MemberInfo.VNodeState

/**
 * What the others say of a leader that died: that it lives, that there is none, or that they are
 * looking for one, and then a client connects to none of them.
 */
type Gossip = 'stale' | 'leaderless' | 'electing'

const hostOf = ({ port }: EventStoreDbNode) => `127.0.0.1:${port}`

/** Three nodes over one log. The leader dies when told to, and the next leads when told to. */
export const eventStoreDbCluster = async ({ givesUpMs }: { givesUpMs?: number } = {}) => {
  const log = eventLog()
  const committing = commits(log)
  const nodes: (EventStoreDbNode & { id: string })[] = []
  const down = new Set<number>()
  let leader = 0
  let gossiping: Gossip | undefined

  const stateOf = (n: number) => {
    if (gossiping === 'electing') return UNKNOWN
    return n === leader && gossiping !== 'leaderless' ? LEADER : FOLLOWER
  }

  const info = () =>
    new gossip.ClusterInfo().setMembersList(
      nodes.map(({ id, port }, n) =>
        new gossip.MemberInfo()
          .setInstanceId(new shared.UUID().setString(id))
          .setTimeStamp('17672256000000000')
          .setIsAlive(!down.has(n) || (gossiping === 'stale' && n === leader))
          .setState(stateOf(n))
          .setHttpEndPoint(new gossip.EndPoint().setAddress('127.0.0.1').setPort(port)),
      ),
    )

  const node = { log, commits: committing, gossip: info, access: insecure, givesUpMs }
  for (let n = 0; n < 3; n++) nodes.push({ id: randomUUID(), ...(await eventStoreDbNode(node)) })

  const elect = (how: Electing | undefined) => {
    for (const { appends } of nodes) appends.elect(how)
  }

  const stopNode = (n: number): void => {
    down.add(n)
    nodes[n]?.stop()
  }

  const hosts = nodes.map(hostOf)
  return {
    hosts,
    url: `esdb://${hosts.join(',')}?tls=false`,
    log,
    /** The leader dies. Until the next is elected, appends to the others fare as told. */
    killLeader: (says: Gossip, how: Electing): void => {
      gossiping = says
      stopNode(leader)
      elect(how)
    },
    /** The next of those that live leads. */
    electLeader: (): void => {
      gossiping = undefined
      leader = nodes.findIndex((_, n) => !down.has(n))
      elect(undefined)
    },
    /** All that died come back. */
    revive: async (): Promise<void> => {
      for (const n of [...down]) {
        await nodes[n]?.start()
        down.delete(n)
      }
    },
    stopNode,
    stop: (): void => {
      for (const n of nodes.keys()) stopNode(n)
    },
    holdCommits: committing.hold,
    /** How many appends have come to any node, with those that were refused or not answered. */
    received: () => nodes.reduce((sum, { appends }) => sum + appends.received(), 0),
  }
}
