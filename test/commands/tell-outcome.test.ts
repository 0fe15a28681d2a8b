import t from 'tap'
import { commanding, typesOf } from '../support/commanding.ts'
import { call } from '../support/recorded.ts'
import { message } from '../support/run-events.ts'
import { sessionEvent } from '../support/session-events.ts'

const commands = await commanding(t)
const { appended, appendedOnce, sendMessage, pauseRun, tellOutcome } = commands
await commands.credited()

const argumentsDigest = 'digest'
const inDoubt = [{ toolId: 'call_1', at: '0/0/0', tool: 'pay', agent: 'Shop', argumentsDigest }]

const doubting = async (sessionId: string, runId: string) => {
  await sendMessage(message({ sessionId, runId, messageId: `message of ${runId}` }), call)
  const { data } = sessionEvent('RunPaused', undefined, { runId, state: 'in_doubt', inDoubt })
  const owner = { node: 'node-1', attempt: 1 }
  await pauseRun({ sessionId, owner, steps: [], requests: [], paused: data }, call)
}

t.test('an outcome is stored with its result sealed, and the run can go on', async (t) => {
  await doubting('s-1', 'run-1')
  const command = {
    sessionId: 's-1',
    runId: 'run-1',
    toolId: 'call_1',
    argumentsDigest: undefined,
    outcome: 'done' as const,
    result: 'Paid',
    by: 'user-1',
  }
  const wrong = { ...command, toolId: 'call_2' }
  const none = await appended(() =>
    t.rejects(tellOutcome(wrong, call), { code: 'tool_not_in_doubt' }),
  )
  t.strictSame(none, [])
  const events = await appendedOnce(t, (by) => tellOutcome(command, by), call)
  t.strictSame(typesOf(events), ['ToolOutcomeTold'])
  t.match(events[0]?.data, { outcome: 'done', by: 'user-1', result: { box: String } })
  t.notMatch(JSON.stringify(events), 'Paid')
})

t.test('of two at once one is stored', async (t) => {
  await doubting('s-2', 'run-2')
  const command = {
    sessionId: 's-2',
    runId: 'run-2',
    toolId: 'call_1',
    argumentsDigest,
    result: undefined,
    by: 'user-1',
  }
  const events = await appended(async () => {
    const both = await Promise.allSettled([
      tellOutcome({ ...command, outcome: 'done' }, call),
      tellOutcome({ ...command, outcome: 'not_done' }, call),
    ])
    t.match(both, [
      { status: 'fulfilled', value: { goesOn: true } },
      { status: 'rejected', reason: { code: 'tool_not_in_doubt' } },
    ])
  })
  t.strictSame(typesOf(events), ['ToolOutcomeTold'])
})
