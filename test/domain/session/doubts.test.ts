import t from 'tap'
import { evolved } from '../../../src/domain/aggregate.ts'
import { canGoOn, decidePause, endPaused } from '../../../src/domain/session/approvals.ts'
import { decideOutcome, type TellOutcome } from '../../../src/domain/session/doubts.ts'
import { decideErase } from '../../../src/domain/session/erase.ts'
import type { SessionEvent } from '../../../src/domain/session/events.ts'
import { decideResume } from '../../../src/domain/session/runs.ts'
import { session } from '../../../src/domain/session/session.ts'
import { deciding } from '../../support/given.ts'
import { runningSession, sessionEvent } from '../../support/session-events.ts'

const pay = {
  toolId: 'call_1',
  at: '0/0/0',
  tool: 'pay',
  agent: 'Shop',
  argumentsDigest: 'first',
}
const paying = { ...pay, at: '0.1/0/0', argumentsDigest: 'second' }
const paused = (...inDoubt: (typeof pay)[]) =>
  sessionEvent('RunPaused', undefined, { state: 'in_doubt', inDoubt })
const inDoubt = [...runningSession, paused(pay)]
const outcomeTold = sessionEvent('ToolOutcomeTold')
const { result } = outcomeTold.data
const resumed = sessionEvent('RunResumed')

const says = (change: Partial<TellOutcome> = {}) =>
  decideOutcome({
    runId: 'run-1',
    toolId: 'call_1',
    argumentsDigest: undefined,
    outcome: 'done',
    result,
    by: 'user-1',
    ...change,
  })

t.test('a run pauses with the calls that are in doubt', async (t) => {
  const { data } = paused(pay)
  deciding(
    t,
    session,
  )(...runningSession)
    .when(decidePause({ requests: [], paused: data }, { node: 'node-1', attempt: 1 }))
    .emitsOnce({ type: 'RunPaused', data })
})

t.test('somebody says what came of a call', async (t) => {
  const { when } = deciding(t, session)(...inDoubt)
  when(says()).emits(outcomeTold)
  const { result: _, ...without } = { ...outcomeTold.data, outcome: 'not_done' as const }
  when(says({ outcome: 'not_done', result: undefined })).emits({
    type: 'ToolOutcomeTold',
    data: without,
  })
  when(says({ argumentsDigest: 'first' })).emits(outcomeTold)
})

t.test('what is refused', async (t) => {
  const given = deciding(t, session)
  const cases: [SessionEvent[], Partial<TellOutcome>][] = [
    [[...inDoubt, outcomeTold], {}],
    [[...inDoubt, outcomeTold, resumed], { outcome: 'not_done' }],
    [inDoubt, { toolId: 'call_2' }],
    [inDoubt, { runId: 'run-2' }],
    [runningSession, {}],
    [[...inDoubt, sessionEvent('RunCancelled')], {}],
    [[...inDoubt, sessionEvent('SessionErased')], {}],
  ]
  for (const [events, change] of cases)
    given(...events)
      .when(says(change))
      .refuses('tool_not_in_doubt')
  given(...inDoubt)
    .when(says({ argumentsDigest: 'another' }))
    .refuses('arguments_changed')
})

t.test('calls that share an id are told apart by their arguments', async (t) => {
  const given = deciding(t, session)
  const both = [...runningSession, paused(pay, paying)]
  given(...both)
    .when(says())
    .refuses('arguments_changed')
  const second: SessionEvent = {
    type: 'ToolOutcomeTold',
    data: { ...outcomeTold.data, at: paying.at },
  }
  given(...both)
    .when(says({ argumentsDigest: 'second' }))
    .emits(second)
  given(...both, outcomeTold)
    .when(says())
    .emits(second)
  const equal = { ...paying, argumentsDigest: 'first' }
  given(...runningSession, paused(pay, equal))
    .when(says())
    .emits(outcomeTold)
  given(...runningSession, paused(pay, equal), outcomeTold)
    .when(says())
    .emits(second)
})

t.test('the run resumes with the outcome, and may be in doubt again', async (t) => {
  const after = (...events: SessionEvent[]) => evolved(session, session.initial, events)
  t.notOk(canGoOn(after(...inDoubt)))
  t.ok(canGoOn(after(...inDoubt, outcomeTold)))
  const resume = decideResume({
    runId: 'run-1',
    from: { node: 'node-1', attempt: 1 },
    node: 'node-2',
  })
  t.strictSame(resume(after(...inDoubt)), [])
  t.match(resume(after(...inDoubt, outcomeTold)), [{ type: 'RunResumed' }])

  const again = [...inDoubt, outcomeTold, resumed, paused(pay)]
  t.notOk(canGoOn(after(...again)), 'what was said was heard')
  deciding(
    t,
    session,
  )(...again)
    .when(says())
    .emits(outcomeTold)

  const both = [...runningSession, paused(pay, paying)]
  const { data } = outcomeTold
  const meanwhile: SessionEvent = { type: 'ToolOutcomeTold', data: { ...data, at: paying.at } }
  const heard = after(...both, outcomeTold, resumed, meanwhile, paused(paying))
  t.ok(canGoOn(heard), 'what was said while it was under way is not lost')
})

t.test('the end of the run ends what is in doubt', async (t) => {
  const state = evolved(session, session.initial, inDoubt)
  const end = endPaused(state, 'cancelled')
  t.match(end, [{ type: 'AssistantMessageRecorded' }, { type: 'RunCancelled' }])
  t.notOk(JSON.stringify(end.at(-1)).includes('inDoubt'))
  t.strictSame(evolved(session, state, end).doubts, [])
  const erase = decideErase({ sessionOwner: 'user-1', deletedBy: 'user-1' })
  t.strictSame(evolved(session, state, erase(state)).doubts, [])
})
