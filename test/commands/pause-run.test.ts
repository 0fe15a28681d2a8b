import t from 'tap'
import { commanding, typesOf } from '../support/commanding.ts'
import { call } from '../support/recorded.ts'
import { agentRouted, message } from '../support/run-events.ts'
import { sessionEvent } from '../support/session-events.ts'

const { appended, appendedOnce, credited, pauseRun, sendMessage } = await commanding(t)
await credited()
const { userId, keyId, ...request } = sessionEvent('ApprovalRequested').data
const { data: paused } = sessionEvent('RunPaused')

t.test('a run pauses once, with what it did and what it asks for; its credits stay', async (t) => {
  await sendMessage(message({ sessionId: 's-1' }), call)
  const owner = { node: 'node-1', attempt: 1 }
  const pause = {
    sessionId: 's-1',
    owner,
    steps: [agentRouted('run-1')],
    requests: [request],
    paused,
  }
  const events = await appendedOnce(t, (by) => pauseRun(pause, by), call)
  t.strictSame(typesOf(events), ['AgentRouted', 'ApprovalRequested', 'RunPaused'])
  t.match(events[1]?.data, { userId: 'user-1', keyId: 'key-1' })
  t.match(await pauseRun({ ...pause, steps: [] }, call), { paused: false, goesOn: false })

  await sendMessage(message({ sessionId: 's-2', runId: 'run-2', messageId: 'm-2' }), call)
  const lost = { ...pause, sessionId: 's-2', paused: { ...paused, runId: 'run-2' } }
  const foreign = { ...lost, owner: { node: 'node-2', attempt: 1 } }
  const none = await appended(() => pauseRun(foreign, call))
  t.strictSame(none, [], 'by a process whose run it is not')
})
