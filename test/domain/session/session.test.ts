import fc from 'fast-check'
import t from 'tap'
import { evolved } from '../../../src/domain/aggregate.ts'
import { Refusal } from '../../../src/domain/refusal.ts'
import { endWaiting } from '../../../src/domain/session/approvals.ts'
import { decideErase } from '../../../src/domain/session/erase.ts'
import type { SessionEvent } from '../../../src/domain/session/events.ts'
import type { RunOwner } from '../../../src/domain/session/running.ts'
import { decideRecord, decideResume, isSuspect } from '../../../src/domain/session/runs.ts'
import { decideSend, type Send } from '../../../src/domain/session/send.ts'
import { type Session, session } from '../../../src/domain/session/session.ts'
import { isOwn, type Viewer } from '../../../src/domain/session/viewer.ts'
import { deciding } from '../../support/given.ts'

const content = (text: string) => ({ $sealed: 'session:org-1/s-1', box: text })
const cost = { promptTokens: 1, completionTokens: 2, charge: 3 }
const free = { promptTokens: 0, completionTokens: 0, charge: 0 }

const viewer: Viewer = { userId: 'user-1', onlyKeyId: 'key-1' }
const sendOf = (n: number, more: Partial<Send> = {}): Send => ({
  viewer,
  keyId: 'key-1',
  hidden: undefined,
  messageId: `message-${n}`,
  runId: `run-${n}`,
  content: content(`text ${n}`),
  agentId: 'agent-1',
  agent: 'Orchestrator',
  node: 'node-1',
  payerId: 'user-1',
  ...more,
})

const created: SessionEvent = {
  type: 'SessionCreated',
  data: { userId: 'user-1', keyId: 'key-1', hidden: false },
}
const sent = (n: number): SessionEvent => ({
  type: 'UserMessageSent',
  data: { messageId: `message-${n}`, runId: `run-${n}`, content: content(`text ${n}`) },
})
const started = (n: number, message = n, node = 'node-1'): SessionEvent => ({
  type: 'RunStarted',
  data: {
    runId: `run-${n}`,
    messageId: `message-${message}`,
    agentId: 'agent-1',
    agent: 'Orchestrator',
    node,
    payerId: 'user-1',
    attempt: 1,
  },
})
const answerRecorded = (n: number): SessionEvent => ({
  type: 'AssistantMessageRecorded',
  data: {
    messageId: `answer-${n}`,
    runId: `run-${n}`,
    agent: 'Orchestrator',
    content: content(`answer ${n}`),
  },
})
const completed = (n: number): SessionEvent => ({
  type: 'RunCompleted',
  data: { runId: `run-${n}`, finishReason: 'stop', model: 'm', durationMs: 1, ...cost },
})
const failed = (n: number): SessionEvent => ({
  type: 'RunFailed',
  data: { runId: `run-${n}`, code: 'llm_service_unavailable', ...free },
})
const cancelled = (n: number): SessionEvent => ({
  type: 'RunCancelled',
  data: { runId: `run-${n}`, ...cost },
})
const timedOut = (n: number): SessionEvent => ({
  type: 'RunTimedOut',
  data: { runId: `run-${n}`, ...free },
})

const turn = (n: number): SessionEvent[] => [sent(n), started(n), answerRecorded(n), completed(n)]

t.test('a run of a draft is started as one', async (t) => {
  const { type, data } = started(1) as SessionEvent<'RunStarted'>
  deciding(t, session)()
    .when(decideSend(sendOf(1, { draft: true })))
    .emits(created, sent(1), { type, data: { ...data, draft: true } })
})

t.test('a queued run starts once, in the first process that takes it', async (t) => {
  const given = deciding(t, session)
  const { type, data } = started(1) as SessionEvent<'RunStarted'>
  const queued: SessionEvent = { type, data: { ...data, queued: true } }
  const run = [created, sent(1), queued]
  const take = (from: string, node: string) =>
    decideResume({ runId: 'run-1', from: { node: from, attempt: 1 }, node })
  const dequeued: SessionEvent = { type: 'RunDequeued', data: { runId: 'run-1', node: 'node-2' } }
  given()
    .when(decideSend(sendOf(1, { queued: true })))
    .emits(created, sent(1), queued)
  given(...run)
    .when(take('node-1', 'node-2'))
    .emits(dequeued)
  given(...run, dequeued)
    .when(take('node-1', 'node-3'))
    .emits()
  given(...run, dequeued)
    .when(take('node-2', 'node-3'))
    .emits({ type: 'RunResumed', data: { runId: 'run-1', node: 'node-3', attempt: 2 } })
  given(...run)
    .when((state: Session) => endWaiting(state, 'cancelled'))
    .emits({ type: 'RunCancelled', data: { runId: 'run-1', ...free } })
  given(...run, dequeued)
    .when((state: Session) => endWaiting(state, 'cancelled'))
    .emits()
})

t.test('a message waits for a queued run, also of its own process', async (t) => {
  const given = deciding(t, session)
  const { type, data } = started(1) as SessionEvent<'RunStarted'>
  given(created, sent(1), { type, data: { ...data, queued: true } })
    .when(decideSend(sendOf(2)))
    .refuses('session_busy')
})

t.test('a first message creates the session and begins a run', async (t) => {
  const given = deciding(t, session)
  given()
    .when(decideSend(sendOf(1)))
    .emitsOnce(created, sent(1), started(1))
  given()
    .when(decideSend(sendOf(1, { hidden: true })))
    .emits(
      { type: 'SessionCreated', data: { userId: 'user-1', keyId: 'key-1', hidden: true } },
      sent(1),
      started(1),
    )
})

t.test('a further message begins a run in the same session', async (t) => {
  const given = deciding(t, session)
  given(created, ...turn(1))
    .when(decideSend(sendOf(2)))
    .emitsOnce(sent(2), started(2))
})

t.test('a message that follows a turn is for the session as that turn left it', async (t) => {
  const given = deciding(t, session)
  const follows = (n: number, more: Partial<Send> = {}) =>
    decideSend(sendOf(3, { follows: `run-${n}`, ...more }))
  const history = [created, ...turn(1), ...turn(2)]
  given(...history)
    .when(follows(2))
    .emitsOnce(sent(3), started(3))
  given(...history)
    .when(follows(1))
    .refuses('response_continued')
  given().when(follows(1)).refuses('response_continued')
  given(...history, sent(4), started(4, 4), failed(4))
    .when(follows(2, { messageId: 'message-4' }))
    .emits(started(3, 4))
})

t.test('a run that used up what it may is not begun anew by its message', async (t) => {
  const limited: SessionEvent = {
    type: 'RunFailed',
    data: { runId: 'run-1', code: 'run_limit_reached', ...cost },
  }
  const given = deciding(t, session)(created, sent(1), started(1), answerRecorded(1), limited)
  given.when(decideSend(sendOf(2, { messageId: 'message-1' }))).emits()
  given.when(decideSend(sendOf(2))).emits(sent(2), started(2))
})

t.test('session_hidden changes the flag only when it is passed, and differs', async (t) => {
  const given = deciding(t, session)
  const when = (hidden?: boolean) =>
    given(created, ...turn(1)).when(decideSend(sendOf(2, { hidden })))
  when(true).emits(
    { type: 'SessionVisibilityChanged', data: { hidden: true } },
    sent(2),
    started(2),
  )
  when(false).emits(sent(2), started(2))
  when().emits(sent(2), started(2))
})

t.test('a session that is not the viewer’s does not exist', async (t) => {
  const given = deciding(t, session)
  const others: Viewer[] = [
    { userId: 'user-2', onlyKeyId: null },
    { userId: 'user-2', onlyKeyId: 'key-1' },
    { userId: 'user-1', onlyKeyId: 'key-2' },
  ]
  for (const other of others) {
    const send = sendOf(2, { viewer: other, hidden: true })
    given(created, ...turn(1))
      .when(decideSend(send))
      .refuses('session_not_found')
    given(created, sent(1), started(1)).when(decideSend(send)).refuses('session_not_found')
  }
  const userKey = sendOf(2, { viewer: { userId: 'user-1', onlyKeyId: null } })
  given(created, ...turn(1))
    .when(decideSend(userKey))
    .emits(sent(2), started(2))
})

t.test('one run at a time: a run of another process is not disturbed', async (t) => {
  const given = deciding(t, session)
  given(created, sent(1), started(1, 1, 'node-2'))
    .when(decideSend(sendOf(2)))
    .refuses('session_busy')
})

t.test('a run that its own process left open is closed first', async (t) => {
  const given = deciding(t, session)
  const interrupted: SessionEvent = {
    type: 'RunFailed',
    data: { runId: 'run-1', code: 'interrupted', ...free },
  }
  given(created, sent(1), started(1))
    .when(decideSend(sendOf(2)))
    .emitsOnce(interrupted, sent(2), started(2))
  given(created, sent(1), started(1))
    .when(decideSend(sendOf(2, { messageId: 'message-1' })))
    .emitsOnce(interrupted, started(2, 1))
})

t.test('a message that was sent before is answered once', async (t) => {
  const given = deciding(t, session)
  const again = decideSend(sendOf(2, { messageId: 'message-1' }))
  given(created, ...turn(1))
    .when(again)
    .changesNothing()
  given(created, sent(1), started(1), cancelled(1)).when(again).changesNothing()
  given(created, sent(1), started(1, 1, 'node-2'))
    .when(again)
    .changesNothing()
  given(created, sent(1), started(1), failed(1)).when(again).emitsOnce(started(2, 1))
  given(created, sent(1), started(1), timedOut(1)).when(again).emitsOnce(started(2, 1))
})

t.test('a message whose turn was cancelled is answered where it is asked again', async (t) => {
  const given = deciding(t, session)
  const again = decideSend(sendOf(2, { messageId: 'message-1', askAgain: true }))
  given(created, sent(1), started(1), cancelled(1)).when(again).emitsOnce(started(2, 1))
  given(created, sent(1), started(1), answerRecorded(1), cancelled(1))
    .when(again)
    .emitsOnce(started(2, 1))
  given(created, sent(1), started(1), cancelled(1), ...turn(3))
    .when(again)
    .changesNothing()
  given(created, ...turn(1))
    .when(again)
    .changesNothing()
})

t.test('a cancelled answer is left out where its message is asked again', async (t) => {
  const given = [created, ...turn(3), sent(1), started(1), answerRecorded(1), cancelled(1)]
  const roles = (...more: SessionEvent[]) =>
    evolved(session, session.initial, [...given, ...more]).recent.map(({ role }) => role)
  t.strictSame(roles(), ['user', 'assistant', 'user', 'assistant'])
  t.strictSame(roles(started(2, 1)), ['user', 'assistant', 'user'])
  t.strictSame(roles(sent(2), started(2)), ['user', 'assistant', 'user', 'assistant', 'user'])
})

t.test('a failed message that runs again behind another turn is the last message', async (t) => {
  const before = [created, sent(1), started(1), failed(1), ...turn(2)]
  const again = decideSend(sendOf(3, { messageId: 'message-1' }))
  deciding(
    t,
    session,
  )(...before)
    .when(again)
    .emitsOnce(started(3, 1))
  const texts = (...events: SessionEvent[]) =>
    evolved(session, session.initial, events).recent.map(({ content }) => content.box)
  t.strictSame(texts(...before), ['text 1', 'text 2', 'answer 2'])
  t.strictSame(texts(...before, started(3, 1)), ['text 2', 'answer 2', 'text 1'])
})

t.test('a session forgets what is long past', async (t) => {
  const turns = Array.from({ length: 30 }, (_, n) => turn(n)).flat()
  const state = evolved(session, session.initial, [created, ...turns])
  t.equal(state.recent.length, 40)
  t.equal(state.recent.at(-1)?.content.box, 'answer 29')
  t.equal(state.turns.length, 20)
  t.equal(state.running, null)
  const weigh = session.weigh ?? (() => 0)
  t.ok(weigh(state) > weigh(session.initial))
})

t.test('steps are recorded while their run is under way, and never after', async (t) => {
  const given = deciding(t, session)
  const steps = [answerRecorded(1), completed(1)]
  given(created, sent(1), started(1))
    .when(decideRecord('run-1', steps))
    .emitsOnce(...steps)
  given(created, sent(1), started(1)).when(decideRecord('run-2', steps)).changesNothing()
  for (const end of [completed(1), failed(1), cancelled(1), timedOut(1)])
    given(created, sent(1), started(1), end).when(decideRecord('run-1', steps)).changesNothing()
})

t.test('whose session it is', async (t) => {
  const owner = { ownerId: 'user-1', keyId: 'key-1' }
  t.ok(isOwn({ userId: 'user-1', onlyKeyId: null }, owner))
  t.ok(isOwn({ userId: 'user-1', onlyKeyId: 'key-1' }, owner))
  t.notOk(isOwn({ userId: 'user-1', onlyKeyId: 'key-2' }, owner))
  t.notOk(isOwn({ userId: 'user-2', onlyKeyId: 'key-1' }, owner))
  t.notOk(isOwn({ userId: 'user-1', onlyKeyId: 'key-1' }, { ownerId: 'user-1', keyId: null }))
})

type Step = { do: 'send' | 'complete' | 'fail' | 'cancel'; message: number; node: string }

const step: fc.Arbitrary<Step> = fc.record({
  do: fc.constantFrom('send', 'complete', 'fail', 'cancel'),
  message: fc.integer({ min: 0, max: 4 }),
  node: fc.constantFrom('node-1', 'node-2'),
})

const endEvents = { complete: completed, fail: failed, cancel: cancelled }

t.test(
  'whatever happens: one run at a time, one record of a message, one end of a run',
  async (t) => {
    fc.assert(
      fc.property(fc.array(step, { maxLength: 40 }), (steps) => {
        let state: Session = session.initial
        const log: SessionEvent[] = []
        const running = () => Number(state.running?.runId.slice('run-'.length) ?? Number.NaN)
        steps.forEach(({ do: what, message, node }, n) => {
          const decide =
            what === 'send'
              ? decideSend(sendOf(n, { messageId: `message-${message}`, node }))
              : decideRecord(`run-${running()}`, [endEvents[what](running())])
          let events: readonly SessionEvent[] = []
          try {
            events = decide(state)
          } catch (error) {
            if (!(error instanceof Refusal)) throw error
          }
          log.push(...events)
          state = evolved(session, state, events)
        })
        let open: string | null = null
        const recorded = new Set<string>()
        for (const { type, data } of log) {
          if (type === 'RunStarted') {
            if (open) throw new Error(`${data.runId} began while ${open} was under way`)
            open = data.runId
          } else if (type === 'RunCompleted' || type === 'RunFailed' || type === 'RunCancelled') {
            if (open !== data.runId) throw new Error(`${data.runId} ended and was not under way`)
            open = null
          } else if (type === 'UserMessageSent') {
            if (recorded.has(data.messageId)) throw new Error(`${data.messageId} is there twice`)
            recorded.add(data.messageId)
          }
        }
        return log.filter(({ type }) => type === 'SessionCreated').length <= 1
      }),
    )
    t.pass('300 steps of chance')
  },
)

t.test('a run is of one process in one attempt', async (t) => {
  const given = deciding(t, session)
  const run = [created, sent(1), started(1)]
  const owner = (node: string, attempt: number) => ({ node, attempt })
  const step: SessionEvent = {
    type: 'AgentRouted',
    data: { runId: 'run-1', fromAgent: 'A', toAgent: 'B' },
  }
  const resumed = (node: string, attempt: number): SessionEvent => ({
    type: 'RunResumed',
    data: { runId: 'run-1', node, attempt },
  })
  const resume = (from: RunOwner, node: string) => decideResume({ runId: 'run-1', from, node })
  const record = (by: RunOwner) => decideRecord('run-1', [step], by)

  given(...run)
    .when(record(owner('node-1', 1)))
    .emits(step)
  given(...run)
    .when(record(owner('node-2', 1)))
    .emits()
  given(...run)
    .when(resume(owner('node-1', 1), 'node-2'))
    .emits(resumed('node-2', 2))
  const takeover = [...run, resumed('node-2', 2)]
  given(...takeover)
    .when(record(owner('node-1', 1)))
    .emits()
  given(...takeover)
    .when(record(owner('node-2', 2)))
    .emits(step)
  given(...takeover)
    .when(resume(owner('node-1', 1), 'node-3'))
    .emits()
  given(...takeover)
    .when(resume(owner('node-2', 2), 'node-2'))
    .emits(resumed('node-2', 3))
  given(...takeover, resumed('node-2', 3))
    .when(record(owner('node-2', 2)))
    .emits()
  given(...takeover, resumed('node-2', 3))
    .when(resume(owner('node-2', 3), 'node-4'))
    .emits()
  const handedOver: SessionEvent = {
    type: 'RunHandedOver',
    data: { runId: 'run-1', node: 'node-2' },
  }
  given(...takeover, handedOver, resumed('node-3', 3))
    .when(resume(owner('node-3', 3), 'node-4'))
    .emits(resumed('node-4', 4))
  given(...takeover, completed(1))
    .when(resume(owner('node-2', 2), 'node-3'))
    .emits()
})

t.test('attempts of a run count anew after each recorded step', async (t) => {
  const given = deciding(t, session)
  const box = { $sealed: 'session:org-1/session-1', box: '' }
  const called: SessionEvent = {
    type: 'ToolStarted',
    data: { runId: 'run-1', toolId: 't', tool: 'look', agent: 'A', arguments: box },
  }
  const resumed = (attempt: number, besideSuspects?: true): SessionEvent => ({
    type: 'RunResumed',
    data: {
      runId: 'run-1',
      node: 'node-1',
      attempt,
      ...(besideSuspects ? { besideSuspects } : {}),
    },
  })
  const cleared: SessionEvent = { type: 'RunCleared', data: { runId: 'run-1', node: 'node-1' } }
  const run = [created, sent(1), started(1)]
  const request = (attempt: number) => ({ runId: 'run-1', from: { node: 'node-1', attempt } })
  const resume = (attempt: number) => decideResume({ ...request(attempt), node: 'node-1' })
  const twice = [...run, resumed(2), resumed(3)]

  given(...twice)
    .when(resume(3))
    .emits()
  given(...twice, called)
    .when(resume(3))
    .emits(resumed(4))
  given(...twice, called, resumed(4))
    .when(resume(4))
    .emits(resumed(5))
  given(...twice, called, resumed(4), resumed(5))
    .when(resume(5))
    .emits()
  given(...run, called, resumed(2), resumed(3))
    .when(resume(3))
    .emits()

  const beside = [...run, resumed(2), resumed(3, true)]
  given(...beside)
    .when(resume(3))
    .emits(resumed(4))
  given(...beside, resumed(4))
    .when(resume(4))
    .emits()

  given(...twice, cleared)
    .when(resume(3))
    .emits(resumed(4))
  given(...twice, cleared, resumed(4))
    .when(resume(4))
    .emits()
  given(...twice, called, cleared, resumed(4), resumed(5))
    .when(resume(5))
    .emits()

  const isSuspectAfter = (attempt: number, ...events: SessionEvent[]) =>
    isSuspect(request(attempt), evolved(session, session.initial, events))
  t.notOk(isSuspectAfter(1, ...run))
  t.ok(isSuspectAfter(2, ...run, resumed(2)))
  t.notOk(isSuspectAfter(2, ...run, resumed(2), called))
  t.notOk(isSuspectAfter(3, ...twice), 'it is closed')
  t.ok(isSuspectAfter(3, ...beside))
  t.ok(isSuspectAfter(3, ...twice, cleared))
  t.notOk(isSuspectAfter(2, ...twice, cleared), 'it is another attempt’s')
})

t.test("the client's history is stored where the session has none", async (t) => {
  const given = deciding(t, session)
  const before = content('earlier')
  const runStarted = (n: number) => {
    const { data } = started(n) as SessionEvent<'RunStarted'>
    return { type: 'RunStarted', data: { ...data, before } } as const
  }
  given()
    .when(decideSend(sendOf(1, { before })))
    .emits(created, sent(1), runStarted(1))
  given(created, sent(1), started(1), failed(1))
    .when(decideSend({ ...sendOf(1, { before }), runId: 'run-2' }))
    .emits({ type: 'RunStarted', data: { ...runStarted(1).data, runId: 'run-2' } })
  given(created, sent(1), started(1), answerRecorded(1), completed(1))
    .when(decideSend(sendOf(2, { before })))
    .emits(sent(2), started(2))
})

t.test('erasing', async (t) => {
  const given = deciding(t, session)
  const erase = decideErase({ sessionOwner: 'user-1', deletedBy: 'user-2' })
  const erased = (deletedBy: string, delegated: boolean): SessionEvent => ({
    type: 'SessionErased',
    data: { deletedBy, sessionOwner: 'user-1', delegated },
  })
  const history = [created, sent(1), started(1), answerRecorded(1), completed(1)]
  given(...history)
    .when(erase)
    .emitsOnce(erased('user-2', true))
  given(...history)
    .when(decideErase({ sessionOwner: 'user-1', deletedBy: 'user-1' }))
    .emitsOnce(erased('user-1', false))
  given(created, sent(1), started(1))
    .when(erase)
    .emitsOnce({ type: 'RunCancelled', data: { runId: 'run-1', ...free } }, erased('user-2', true))
  given(...history)
    .when(decideErase({ sessionOwner: 'user-2', deletedBy: 'user-2' }))
    .refuses('session_not_found')
  given().when(erase).refuses('session_not_found')
  const erasedHistory = [...history, erased('user-2', true)]
  given(...erasedHistory)
    .when(erase)
    .refuses('session_not_found')
  given(...erasedHistory)
    .when(decideSend(sendOf(1)))
    .refuses('session_not_found')
  given(...erasedHistory)
    .when(decideSend(sendOf(2)))
    .refuses('session_not_found')
})

t.test(
  'a session weighs more with each message, file, turn, approval, doubt and text',
  async (t) => {
    const { weigh, initial } = session
    const weight = (more: Partial<Session>) => weigh?.({ ...initial, ...more })
    const message = (text: string) => ({ role: 'user' as const, content: content(text) })
    const part = {
      id: 'p',
      kind: 'file',
      mediaType: 'text/plain',
      bytes: 1,
      at: 0,
      blob: 'b',
    } as const
    const turn = { messageId: 'm', runId: 'r', outcome: 'completed' } as const
    const waiting = { runId: 'r', calls: [], state: content('12345'), answeredIn: null }
    const paused = { runId: 'r', text: content('1234567') } as unknown as Session['paused']
    const single = [{}] as unknown
    t.equal(weight({}), 0)
    t.equal(weight({ recent: [message('123')] }), 203)
    t.equal(weight({ recent: [message('123'), message('12345')] }), 408)
    t.equal(weight({ recent: [{ ...message('123'), parts: [part, part] }] }), 203 + 2 * 600)
    t.equal(weight({ turns: [turn, turn] }), 400)
    t.equal(weight({ approvals: single as Session['approvals'] }), 200)
    t.equal(weight({ doubts: single as Session['doubts'] }), 400)
    t.equal(weight({ paused }), 7)
    t.equal(weight({ waiting }), 5)
    t.equal(weight({ waiting: { ...waiting, calls: [{ id: '1', name: 'a' }] } }), 205)
  },
)
