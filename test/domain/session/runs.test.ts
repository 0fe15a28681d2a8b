import t from 'tap'
import type { SessionEvent } from '../../../src/domain/session/events.ts'
import { evolveRunning, mostAttempts, type Running } from '../../../src/domain/session/running.ts'
import { isProgress } from '../../../src/domain/session/runs.ts'

t.test('steps of models and tools are progress, and nothing else is', async (t) => {
  const isStep = (type: SessionEvent['type']) => isProgress({ type } as SessionEvent)
  for (const type of ['ModelAnswered', 'ToolStarted', 'ToolCompleted'] as const) t.ok(isStep(type))
  for (const type of ['RunStarted', 'RunResumed', 'AgentStarted'] as const) t.notOk(isStep(type))
})

const running: Running = {
  runId: 'run-1',
  node: 'node-1',
  payerId: 'user-1',
  attempt: 3,
  base: 2,
  cleared: 0,
  besideSuspects: false,
}

t.test('a recorded step makes its attempt the first that counts', async (t) => {
  t.equal(evolveRunning.recorded(running), running, 'it is the first already')
  t.match(evolveRunning.recorded({ ...running, base: 0 }), { base: 2, cleared: 0 })
  t.match(evolveRunning.recorded({ ...running, base: 0, cleared: 1 }), { base: 2, cleared: 0 })
  t.match(evolveRunning.recorded({ ...running, cleared: 1 }), { base: 2, cleared: 0 })
})

t.test('an attempt of a run that rests does not count', async (t) => {
  t.match(evolveRunning.rested({ ...running, base: 0, cleared: 1 }), { base: 3, cleared: 0 })
})

t.test('of a run that was tried as often as it is, the last attempt is cleared', async (t) => {
  t.equal(evolveRunning.cleared(running), running, 'there are attempts left')
  const tried = { ...running, attempt: mostAttempts, base: 0 }
  t.match(evolveRunning.cleared(tried), { base: 1, cleared: 1 })
  t.match(evolveRunning.cleared({ ...tried, cleared: 1 }), { base: 1, cleared: 2 })
})
