import t from 'tap'
import type { RunView } from '../../../projections/runs.ts'
import type { Keyed, Vault } from '../../../src/security/vault.ts'
import { createdOf, runStart } from '../../../src/turns/read/run-start.ts'
import { recorded } from '../../support/recorded.ts'

const key = {} as Keyed
const run = {
  run_id: 'run-1',
  organization_id: 'org-1',
  session_id: 'session-1',
  revision: 7,
} as RunView

const data = {
  runId: 'run-1',
  messageId: 'message-1',
  agentId: 'agent-1',
  agent: 'A',
  node: 'node-1',
  payerId: 'user-1',
}

/** The stored beginning of a run where the stream has this event; `reads` is what was read. */
const startWith = (type: string, event: object, storedKey: Keyed | undefined = key) => {
  const reads: unknown[][] = []
  const vault: Pick<Vault, 'found'> = { found: async () => storedKey as Keyed }
  const start = runStart({
    vault,
    async *read(...args) {
      reads.push(args)
      yield recorded([{ stream: 'session-org-1_session-1', type, data: event }])
    },
  })
  return { start, reads }
}

t.test('the beginning of a run is one event at its place', async (t) => {
  const { start, reads } = startWith('RunStarted', data)
  t.match(await start(run), { data, key })
  t.match(reads, [[String, 7, 1]])
})

t.test('a run whose place is not known has none', async (t) => {
  const { start, reads } = startWith('RunStarted', data)
  const { revision: _, ...old } = run
  t.equal(await start(old), undefined)
  t.strictSame(reads, [], 'the stream is not read from its start')
})

t.test('a run has none where another event is at its place', async (t) => {
  t.equal(await startWith('RunStarted', { ...data, runId: 'run-2' }).start(run), undefined)
  t.equal(await startWith('RunCleared', { runId: 'run-1', node: 'n' }).start(run), undefined)
})

t.test('the time of a run is that of its id, else another', async (t) => {
  t.equal(createdOf('01a1653f-e10f-7000-8000-000000000000', 5_000), 1_792_700_047)
  t.equal(createdOf('run-1', 5_999), 5)
})
