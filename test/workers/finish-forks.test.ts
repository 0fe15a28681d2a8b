import t from 'tap'
import { sessionEvents } from '../../src/domain/session/events.ts'
import { silent } from '../../src/ports/log.ts'
import { finishForks } from '../../src/workers/finish-forks.ts'
import { nodeLease } from '../../src/workers/node-lease.ts'
import { commanded } from '../support/commanded.ts'
import { sampleOf } from '../support/events.ts'
import { call } from '../support/recorded.ts'

t.test('forks of processes that have died are finished, others are not', async (t) => {
  const { forkSession, seen, read, leases } = await commanded(t)
  const { data: message } = sampleOf(sessionEvents, 'MessageForked')
  for (const node of ['ours', 'theirs', 'dead'])
    await forkSession(
      {
        sessionId: `of ${node}`,
        isNew: true,
        fork: { forkId: node, forkedFrom: 'source', after: 'message-2', messages: 2 },
        viewer: { userId: 'user-1', onlyKeyId: null },
        keyId: null,
        hidden: false,
        node,
        at: 0,
        messages: [message],
      },
      call,
    )
  await seen()
  await leases.acquire(nodeLease('theirs'), 'theirs', 60_000)
  const finished: string[] = []
  const live = new Set(['ours'])
  const finish = finishForks({
    forks: read.forks,
    forkSessions: {
      finish: async ({ fork_id }) => {
        finished.push(fork_id)
      },
      isUnderWay: (forkId) => live.has(forkId),
    },
    leases,
    node: 'ours',
    log: silent,
  })
  await finish({ certain: false })
  t.strictSame(finished.splice(0), ['dead'])
  live.clear()
  await finish({ certain: true })
  t.strictSame(finished.toSorted(), ['dead', 'ours', 'theirs'])
})
