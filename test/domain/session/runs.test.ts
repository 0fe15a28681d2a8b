import t from 'tap'
import type { SessionEvent } from '../../../src/domain/session/events.ts'
import { isProgress } from '../../../src/domain/session/runs.ts'

t.test('steps of models and tools are progress, and nothing else is', async (t) => {
  const isStep = (type: SessionEvent['type']) => isProgress({ type } as SessionEvent)
  for (const type of ['ModelAnswered', 'ToolStarted', 'ToolCompleted'] as const) t.ok(isStep(type))
  for (const type of ['RunStarted', 'RunResumed', 'AgentStarted'] as const) t.notOk(isStep(type))
})
