import t from 'tap'
import { sessionEvents } from '../../src/domain/session/events.ts'
import { commanding, typesOf } from '../support/commanding.ts'
import { sampleOf } from '../support/events.ts'
import { pauseForApproval } from '../support/paused-run.ts'
import { call } from '../support/recorded.ts'
import {
  agentRouted,
  assistantMessage,
  message,
  runCompleted,
  runFailed,
} from '../support/run-events.ts'

const commands = await commanding(t)
const { endRun, sendMessage, node, store, appended, appendedOnce, credited } = commands
await credited()
const of = (sessionId: string) => ({ sessionId, payerId: 'user-1' })

t.test('what is left of the run, its end, and what it cost', async (t) => {
  await sendMessage(message({ sessionId: 's-1', runId: 'run-1' }), call)
  const steps = [agentRouted('run-1'), assistantMessage('run-1')]
  const end = { ...of('s-1'), steps, end: runCompleted('run-1', 70) }
  const events = await appendedOnce(t, (by) => endRun(end, by), call)
  t.strictSame(typesOf(events), [
    'AgentRouted',
    'AssistantMessageRecorded',
    'RunCompleted',
    'CreditsSettled',
  ])
  t.match(events[3], { data: { runId: 'run-1', amount: 70 }, stream: 'account-user-1' })
})

t.test('a run that costs nothing gives back what it held', async (t) => {
  await sendMessage(message({ sessionId: 's-2', runId: 'run-2' }), call)
  const end = { ...of('s-2'), steps: [], end: runFailed('run-2') }
  const events = await appendedOnce(t, (by) => endRun(end, by), call)
  t.strictSame(typesOf(events), ['RunFailed', 'ReservationReleased'])
})

t.test('a run ends once, and is charged once', async (t) => {
  await sendMessage(message({ sessionId: 's-3', runId: 'run-3' }), call)
  t.match(await endRun({ ...of('s-3'), steps: [], end: runFailed('run-3') }, call), { ended: true })
  const late = { ...of('s-3'), steps: [assistantMessage('run-3')], end: runCompleted('run-3', 70) }
  const events = await appended(async () => t.match(await endRun(late, call), { ended: false }))
  t.strictSame(events, [])
})

t.test(
  'a process that lost its run ends and charges nothing, whatever it has in memory',
  async (t) => {
    const [first, second] = [node(), node()]
    const [lost, owner] = [
      { node: 'node-1', attempt: 1 },
      { node: 'node-2', attempt: 2 },
    ]
    for (const sessionId of ['under-way', 'over']) {
      const runId = `run-${sessionId}`
      const settle = { ...of(sessionId), steps: [assistantMessage(runId)] }
      await first.sendMessage(message({ sessionId, runId }), call)
      await second.resumeRun({ sessionId, runId, from: lost, node: 'node-2' }, call)
      if (sessionId === 'over')
        await second.endRun({ ...settle, end: runCompleted(runId, 70), owner }, call)
      const late = await appended(async () => {
        const result = await first.endRun(
          { ...settle, end: runCompleted(runId, 50), owner: lost },
          call,
        )
        t.match(result, { ended: false, lost: true }, sessionId)
      })
      t.strictSame(late, [])
    }
  },
)

t.test('its end takes back what it asked for', async (t) => {
  await pauseForApproval(commands)('s-5', 'run-5')
  const end = { ...of('s-5'), steps: [], end: runFailed('run-5') }
  const events = await appendedOnce(t, (by) => endRun(end, by), call)
  t.strictSame(typesOf(events), ['ApprovalWithdrawn', 'RunFailed', 'ReservationReleased'])
  t.match(events[0], { data: { approvalId: 'approval of run-5', cause: 'ended' } })
})

t.test('a large answer is stored with the end, or not at all', async (t) => {
  const box = 'x'.repeat(600_000)
  await sendMessage(message({ sessionId: 's-6', runId: 'run-6' }), call)
  const sealed = { $sealed: 'session:org-1/s-6', box }
  const step = sampleOf(sessionEvents, 'ToolStarted', { runId: 'run-6', arguments: sealed })
  const answer = sampleOf(sessionEvents, 'AssistantMessageRecorded', {
    runId: 'run-6',
    content: sealed,
  })
  const end = { ...of('s-6'), steps: [step, answer], end: runCompleted('run-6', 1) }
  const batches: string[][] = []
  const { append } = store
  t.intercept(store, 'append', {
    value: (...args: Parameters<typeof append>) => {
      batches.push(typesOf(args[2]))
      return append(...args)
    },
  })
  await endRun(end, call)
  t.strictSame(batches, [
    ['ToolStarted'],
    ['AssistantMessageRecorded', 'RunCompleted'],
    ['CreditsSettled'],
  ])
})
