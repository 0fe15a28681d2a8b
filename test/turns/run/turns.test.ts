import { randomBytes } from 'node:crypto'
import { concat, defer, NEVER, type Observable, of, ReplaySubject, throwError } from 'rxjs'
import t, { type Test } from 'tap'
import { Paused, TurnTimeout } from '../../../src/agents/agent.ts'
import type { AgentEvent, TurnDone } from '../../../src/agents/agent-event.ts'
import { sessionStream } from '../../../src/domain/session/session.ts'
import { START } from '../../../src/ports/event-store.ts'
import { sessionKey } from '../../../src/security/vault.ts'
import type { LiveTurn } from '../../../src/turns/turn.ts'
import { agentNamed, scripted } from '../../support/agents.ts'
import { type Commanded, commanded } from '../../support/commanded.ts'
import { doneWith as done, token } from '../../support/live-turn.ts'
import { gathered } from '../../support/noted.ts'
import { call } from '../../support/recorded.ts'
import { turnRequest } from '../../support/turn-request.ts'
import { pastTurnIn, turnsOver } from '../../support/turns.ts'

const place = { organizationId: call.organizationId, sessionId: 'session-1' }

/** Turns whose agents do as they are told, one after another. */
const scriptedTurns = async (t: Test, ...scripts: Observable<AgentEvent>[]) =>
  scriptedTurnsIn(await commanded(t), ...scripts)

const scriptedTurnsIn = (scene: Commanded, ...scripts: Observable<AgentEvent>[]) => {
  const past = pastTurnIn(scene)
  const errors: unknown[] = []
  const turns = turnsOver(scene, {
    runAgent: () => scripts.shift() ?? of(token('more'), done('more')),
    models: scripted(() => []),
    node: 'node-1',
    log: { error: ({ err }: { err?: unknown }) => errors.push(err) },
  })
  return { ...scene, turns, past, errors }
}

const itemsOf = async (turn: LiveTurn) => {
  const items = []
  for await (const batch of turn.items.follow(0)) items.push(...batch)
  return items.map((item) => (item.event === 'token' ? item.text : item.event))
}

t.test('a turn that goes on for 30 minutes is recorded as timed out', async (t) => {
  const { turns, read } = await scriptedTurns(
    t,
    throwError(() => new TurnTimeout('over')),
  )
  const turn = turns.send(turnRequest(), { keep: false, runsAtOnce: 20 })
  t.match(await turn.outcome, { status: 'failed', refusal: { code: 'llm_service_timeout' } })
  t.match(await read.runs.get(turn.runId), { status: 'timed_out', charge: 0, answer_id: null })
  t.match(await read.sessions.get('org-1/session-1'), { run: { state: 'timed_out' } })
  t.equal((await read.accounts.get('user-1'))?.holding, undefined)
})

t.test('a message that comes again while its turn runs is told that turn', async (t) => {
  const script = new ReplaySubject<AgentEvent>()
  const { turns } = await scriptedTurns(t, script)
  const first = turns.send(turnRequest(), { keep: true, runsAtOnce: 20 })
  await first.started
  script.next(token('one '))
  const second = turns.send(turnRequest(), { keep: true, runsAtOnce: 20 })
  script.next(token('two'))
  script.next(done('one two'))
  script.complete()
  t.strictSame(await itemsOf(first), ['one ', 'two', 'done'])
  t.strictSame(await itemsOf(second), ['one ', 'two', 'done'])
  t.equal((await second.started).runId, first.runId)
  t.strictSame(await second.outcome, await first.outcome)
})

t.test('a message that comes again after its answer is told that answer', async (t) => {
  const { turns, read } = await scriptedTurns(t, of(token('one '), token('two'), done('one two')))
  const first = turns.send(turnRequest(), { keep: false, runsAtOnce: 20 })
  await first.outcome
  const second = turns.send(turnRequest(), { keep: false, runsAtOnce: 20 })
  t.strictSame(await itemsOf(second), ['one two', 'done'], 'from the log')
  t.equal((await second.started).runId, first.runId)
  t.equal((await read.accounts.get('user-1'))?.holding, undefined)
})

t.test('agents that fall silent are stopped by cancelling', async (t) => {
  const { turns, read } = await scriptedTurns(t, NEVER)
  const turn = turns.send(turnRequest(), { keep: false, runsAtOnce: 20 })
  await turn.started
  t.equal(turns.current(place)?.runId, turn.runId)
  t.equal(await turns.cancel(place, call), true)
  t.match(await turn.outcome, { status: 'cancelled', done: { text: '' } })
  t.match(await read.runs.get(turn.runId), { status: 'cancelled', answer_id: null })
  t.equal(turns.current(place), undefined)
  t.equal(turns.running, 0)
  t.equal(await turns.cancel(place, call), false)
})

t.test('a past turn is read from the log, from any character on', async (t) => {
  const text = 'one two'
  const { turns, past } = await scriptedTurns(t, of(token('one '), token('two'), done(text)))
  const { runId, outcome } = turns.send(turnRequest(), { keep: false, runsAtOnce: 20 })
  await outcome
  for (let characters = 0; characters <= text.length; characters++) {
    const turn = await past(runId, { items: 5, characters })
    const items = turn ? [] : ['unknown']
    for await (const batch of turn?.items.follow(5) ?? [])
      for (const item of batch) items.push(item.event === 'token' ? item.text : item.event)
    const rest = text.slice(characters)
    t.strictSame(items, rest === '' ? ['done'] : [rest, 'done'])
  }
  t.equal(await past('unknown', { items: 0, characters: 0 }), undefined)
})

t.test('draining hands over turns that do not end in time', async (t) => {
  const { turns, read, store } = await scriptedTurns(t, NEVER)
  const turn = turns.send(turnRequest(), { keep: false, runsAtOnce: 20 })
  await turn.started
  const inLine = turns.send(turnRequest({ messageId: 'message-2' }), {
    keep: false,
    runsAtOnce: 20,
  })
  await turns.drain(10)
  const unavailable = { status: 'failed', refusal: { code: 'service_unavailable' } }
  t.match(await turn.outcome, unavailable)
  t.match(await inLine.outcome, unavailable)
  t.match(await read.runs.get(turn.runId), { status: 'running' })
  const name = sessionStream(place.organizationId, place.sessionId).name
  t.match((await gathered(store.read(name))).at(-1), { type: 'RunHandedOver' })
})

t.test('a session that is erased while its turn begins is not found', async (t) => {
  const scene = await commanded(t)
  const { turns } = scriptedTurnsIn({
    ...scene,
    sendMessage: async (message, from) => {
      await scene.vault.destroy(sessionKey(place.organizationId, place.sessionId))
      return scene.sendMessage(message, from)
    },
  })
  const { outcome } = turns.send(turnRequest(), { keep: false, runsAtOnce: 20 })
  t.match(await outcome, { status: 'failed', refusal: { code: 'session_not_found' } })
})

/** A tool call whose arguments do not get smaller when they are compressed. */
const called = (n: number, bytes: number): AgentEvent => ({
  event: 'tool_started',
  at: `0/1/${n}`,
  effect: 'read',
  tool_name: 'look',
  tool_id: `tool-${n}`,
  agent_name: 'A',
  arguments: randomBytes(bytes).toString('base64'),
})

t.test('steps that are too much for one append are stored in several, in order', async (t) => {
  const steps = Array.from({ length: 8 }, (_, n) => called(n, 200_000))
  const { turns, read, events, errors } = await scriptedTurns(
    t,
    of(...steps, token('one'), done('one')),
  )
  const turn = turns.send(turnRequest(), { keep: false, runsAtOnce: 20 })
  t.match(await turn.outcome, { status: 'completed', done: { text: 'one' } })
  t.match(await read.runs.get(turn.runId), { status: 'completed' })
  t.match(await read.sessions.get('org-1/session-1'), { run: { state: 'ended' } })
  const stored: string[] = []
  for await (const batch of events.history(START))
    for (const { type, data } of batch)
      if (type === 'ToolStarted') stored.push((data as { toolId: string }).toolId)
  t.strictSame(
    stored,
    steps.map((_, n) => `tool-${n}`),
  )
  t.strictSame(errors, [])
})

for (const [what, script] of [
  ['a step', of(called(1, 1_500_000), token('one'), done('one'))],
  ['an answer', of(token('one'), done(randomBytes(1_500_000).toString('base64')))],
] as const)
  t.test(`${what} that cannot be stored at all: the run has failed, uncharged`, async (t) => {
    const { turns, read, errors } = await scriptedTurns(t, script)
    const turn = turns.send(turnRequest(), { keep: false, runsAtOnce: 20 })
    t.match(await turn.outcome, { status: 'failed', refusal: { code: 'orchestrator_error' } })
    t.match(await read.runs.get(turn.runId), { status: 'failed', charge: 0, answer_id: null })
    t.match(await read.sessions.get('org-1/session-1'), { run: { state: 'ended' } })
    t.equal((await read.accounts.get('user-1'))?.holding, undefined)
    t.match(errors, [{ name: 'AppendTooLarge' }])
    const next = turns.send(turnRequest({ messageId: 'message-2' }), {
      keep: false,
      runsAtOnce: 20,
    })
    t.match(await next.outcome, { status: 'completed' }, 'the session goes on')
  })

t.test('a step that cannot be stored ends the run while it goes on', async (t) => {
  const script = new ReplaySubject<AgentEvent>()
  script.next(called(1, 1_500_000))
  const { turns, read } = await scriptedTurns(t, script)
  const turn = turns.send(turnRequest(), { keep: false, runsAtOnce: 20 })
  t.match(await turn.outcome, { status: 'failed', refusal: { code: 'orchestrator_error' } })
  t.notOk(script.observed, 'its agents are stopped')
  t.match(await read.runs.get(turn.runId), { status: 'failed', charge: 0 })
})

/** A step that no schema takes: its tool took less than no time. */
const misfit: AgentEvent = {
  event: 'tool_completed',
  at: '0/1/0',
  tool_name: 'look',
  tool_id: 'tool-0',
  agent_name: 'A',
  ok: true,
  outcome: 'ok',
  content: 'found',
  duration_ms: -1,
}

const asksFor = (tool_name: string, size = 0): AgentEvent => ({
  event: 'approval_required',
  at: '0/1/0',
  approval_id: 'approval-1',
  tool_name,
  tool_id: 'tool-0',
  agent_name: 'A',
  arguments: JSON.stringify(randomBytes(size).toString('base64')),
  definition: 'digest',
  approver: 'user',
  expires_at: '2026-01-02T00:00:00.000Z',
})

const pausing = (approval: AgentEvent) =>
  concat(
    of(called(0, 10), approval),
    throwError(() => new Paused()),
  )

const used = (usage: TurnDone['usage']): AgentEvent => ({ ...done('one'), usage })

for (const [what, code, script] of [
  ['a step', 'internal_error', () => of(misfit, token('one'), done('one'))],
  ['a step that waits for more', 'internal_error', () => concat(of(misfit), NEVER)],
  [
    'an end',
    'internal_error',
    () => of(token('one'), used({ promptTokens: -1, completionTokens: Number.NaN })),
  ],
  ['a pause', 'internal_error', () => pausing(asksFor('half \ud800'))],
  ['a pause too large', 'orchestrator_error', () => pausing(asksFor('look', 1_500_000))],
] as const)
  t.test(`${what} that nobody could read: the run has failed, and holds nothing`, async (t) => {
    const { turns, read, errors, events } = await scriptedTurns(t, script())
    const turn = turns.send(turnRequest(), { keep: false, runsAtOnce: 20 })
    t.match(await turn.outcome, { status: 'failed', refusal: { code } })
    t.match(await read.runs.get(turn.runId), {
      status: 'failed',
      error_code: code,
      charge: 0,
      answer_id: null,
      open: undefined,
    })
    t.match(await read.sessions.get('org-1/session-1'), { run: { state: 'ended' } })
    t.equal((await read.accounts.get('user-1'))?.holding, undefined)
    t.ok(errors.length > 0, 'the log has why')
    const stored = (await gathered(events.history(START))).map(({ type }) => type)
    t.equal(
      stored.filter((type) => type === 'ToolStarted').length,
      stored.indexOf('ToolStarted') < 0 ? 0 : 1,
    )
    const next = turns.send(turnRequest({ messageId: 'message-2' }), {
      keep: false,
      runsAtOnce: 20,
    })
    t.match(await next.outcome, { status: 'completed' }, 'the session goes on')
  })

t.test('a message whose events nobody could read: nothing is stored or held', async (t) => {
  const { turns, read, events } = await scriptedTurns(t)
  const turn = turns.send(turnRequest({ agent: agentNamed('half \ud800') }), {
    keep: false,
    runsAtOnce: 20,
  })
  await t.rejects(turn.started, { name: 'EventMisfit', path: 'data.agent' })
  t.match(await turn.outcome, { status: 'failed', refusal: { code: 'internal_error' } })
  const stored = (await gathered(events.history(START))).map(({ type }) => type)
  t.strictSame(stored.slice(-2), ['CreditsReserved', 'ReservationReleased'])
  t.equal((await read.accounts.get('user-1'))?.holding, undefined)
  t.equal(turns.running, 0)
  const next = turns.send(turnRequest(), { keep: false, runsAtOnce: 20 })
  t.match(await next.outcome, { status: 'completed' }, 'its place in the line is free')
})

t.test('turns with large texts begin in turns of the event loop of their own', async (t) => {
  const count = 5
  const at: number[] = []
  let turn = 0
  let next = setImmediate(function look() {
    turn++
    next = setImmediate(look)
  })
  const script = defer(() => {
    at.push(turn)
    return of(done('read'))
  })
  const { turns } = await scriptedTurns(t, ...Array(count).fill(script))
  const system = [{ role: 'system', content: ' '.repeat(300_000) } as const]
  const sent = Array.from({ length: count }, (_, n) =>
    turns.send(
      turnRequest({ system, sessionId: `s-${n}`, messageId: `m-${n}`, payerId: `user-${n}` }),
      { keep: false, runsAtOnce: 20 },
    ),
  )
  for (const { outcome } of sent) t.match(await outcome, { status: 'completed' })
  clearImmediate(next)
  t.equal(new Set(at).size, count)
})
