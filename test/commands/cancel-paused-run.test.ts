import t from 'tap'
import { commanding, typesOf } from '../support/commanding.ts'
import { pauseForApproval } from '../support/paused-run.ts'
import { call } from '../support/recorded.ts'
import { message } from '../support/run-events.ts'

const commands = await commanding(t)
const { appended, appendedOnce, cancelPausedRun, sendMessage } = commands
await commands.credited()
const endTypes = ['ApprovalWithdrawn', 'AssistantMessageRecorded', 'RunCancelled']

t.test('a run that waits is cancelled, charged for what it used, once', async (t) => {
  await pauseForApproval(commands)('s-1', 'run-1')
  const events = await appendedOnce(t, (by) => cancelPausedRun({ sessionId: 's-1' }, by), call)
  t.strictSame(typesOf(events), [...endTypes, 'CreditsSettled'])
  t.match(events.at(-1), { stream: 'account-user-1', data: { runId: 'run-1', amount: 70 } })
})

t.test('a run that is running, and a session without one, are left alone', async (t) => {
  await sendMessage(message({ sessionId: 's-2', runId: 'run-2' }), call)
  const events = await appended(async () => {
    for (const sessionId of ['s-2', 'none'])
      t.match(await cancelPausedRun({ sessionId }, call), { cancelled: false })
  })
  await pauseForApproval(commands)('s-4', 'run-5')
  const others = await appended(async () => {
    const other = { sessionId: 's-4', runId: 'run-4' }
    t.match(await cancelPausedRun(other, call), { cancelled: false }, 'not that of another id')
  })
  t.strictSame(others, [])
  t.strictSame(events, [])
})

t.test('a new message does the same', async (t) => {
  await pauseForApproval(commands)('s-3', 'run-3')
  const next = message({ sessionId: 's-3', runId: 'run-4', messageId: 'message-4' })
  const events = await appendedOnce(t, (by) => sendMessage(next, by), call)
  t.strictSame(typesOf(events), [
    'CreditsReserved',
    ...endTypes,
    'UserMessageSent',
    'RunStarted',
    'CreditsSettled',
  ])
  t.match(events.at(-1), { data: { runId: 'run-3', amount: 70 } })
})

t.test('a cancelled run is reported, its second cancellation not', async (t) => {
  await pauseForApproval(commands)('s-9', 'run-9')
  const cancel = () => cancelPausedRun({ sessionId: 's-9', runId: 'run-9' }, call)
  t.match(await cancel(), { cancelled: true })
  t.match(await cancel(), { cancelled: false })
})

t.test('a queued run, which ends with one event, is reported as cancelled', async (t) => {
  const command = message({ sessionId: 's-10', runId: 'run-10', messageId: 'message-10' })
  await sendMessage({ ...command, queued: true }, call)
  t.match(await cancelPausedRun({ sessionId: 's-10' }, call), { cancelled: true })
})
