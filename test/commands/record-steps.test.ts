import t from 'tap'
import { commanding, typesOf } from '../support/commanding.ts'
import { call } from '../support/recorded.ts'
import { agentRouted, message, runFailed } from '../support/run-events.ts'

const { recordSteps, endRun, sendMessage, appended } = await commanding(t)

t.test('steps of a run that is under way, and none after its end', async (t) => {
  await sendMessage(message(), call)
  const command = { sessionId: 'session-1', runId: 'run-1', steps: [agentRouted('run-1')] }
  const events = await appended(() => recordSteps(command, call))
  t.strictSame(typesOf(events), ['AgentRouted'])
  t.match(events[0], { stream: 'session-org-1_session-1' })
  const other = { ...command, runId: 'run-2', steps: [agentRouted('run-2')] }
  t.strictSame(await appended(() => recordSteps(other, call)), [])
  const end = { sessionId: 'session-1', payerId: 'user-1', steps: [], end: runFailed('run-1') }
  await endRun(end, call)
  t.strictSame(await appended(() => recordSteps(command, call)), [])
})
