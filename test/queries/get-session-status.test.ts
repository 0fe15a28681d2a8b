import t from 'tap'
import { sessions } from '../../projections/sessions.ts'
import { findSession } from '../../queries/find-session.ts'
import { getSessionStatus } from '../../queries/get-session-status.ts'
import type { sessionEvents } from '../../src/domain/session/events.ts'
import type { Given } from '../support/given.ts'
import { runningSession, sessionEvent, sessionStream } from '../support/session-events.ts'
import { viewAfter } from '../support/view-after.ts'

const at = '2026-01-01T00:00:00.000Z'
const idle = { session_id: 'session-1', is_processing: false }

const statusAt = (time: string, ...events: Given<typeof sessionEvents>[]) => {
  const view = viewAfter(sessions, sessionStream, ...runningSession, ...events)
  const viewer = { userId: 'user-1', onlyKeyId: null }
  const clock = { now: () => new Date(`2026-01-01T${time}Z`), elapsedHere: () => undefined }
  const get = getSessionStatus({ findSession: findSession({ sessions: view }), clock })
  return get({ organizationId: 'org-1', viewer, sessionId: 'session-1' })
}

t.test('a turn is under way, for half an hour at most', async (t) => {
  t.strictSame(await statusAt('00:00:01.500'), {
    session_id: 'session-1',
    is_processing: true,
    started_at: at,
    current_agent: 'Orchestrator',
    elapsed_seconds: 1.5,
  })
  t.match(await statusAt('00:29:59.999'), { is_processing: true })
  t.match(await statusAt('00:30:00.000'), { is_processing: false, timed_out: true })
})

t.test('a turn waits for somebody, however long', async (t) => {
  const waiting = sessionEvent('RunPaused')
  const { data } = waiting
  for (const state of ['awaiting_approval', 'in_doubt'] as const)
    t.strictSame(await statusAt('23:00:00.000', { ...waiting, data: { ...data, state } }), {
      session_id: 'session-1',
      is_processing: false,
      state,
      started_at: at,
      current_agent: 'Orchestrator',
    })
})

t.test('calls in doubt are named, without their place', async (t) => {
  const call = { toolId: 'call_1', tool: 'pay', agent: 'Shop', argumentsDigest: 'one' }
  const waiting = sessionEvent('RunPaused', undefined, {
    state: 'in_doubt',
    inDoubt: [{ ...call, at: '0/0/0' }],
  })
  t.strictSame(await statusAt('23:00:00.000', waiting), {
    session_id: 'session-1',
    is_processing: false,
    state: 'in_doubt',
    started_at: at,
    current_agent: 'Orchestrator',
    in_doubt: [
      {
        run_id: 'run-1',
        tool_id: 'call_1',
        tool_name: 'pay',
        agent_name: 'Shop',
        arguments_digest: 'one',
      },
    ],
  })
})

t.test('a turn is over', async (t) => {
  for (const type of ['RunCompleted', 'RunFailed', 'RunCancelled'] as const)
    t.strictSame(await statusAt('00:00:01.000', sessionEvent(type)), idle)
  const timedOut = await statusAt('00:00:01.000', sessionEvent('RunTimedOut'))
  t.match(timedOut, { is_processing: false, timed_out: true, message: /after 30 minutes/ })
})

t.test('a queued turn is under way, and has not begun to count', async (t) => {
  const queued = [...runningSession.slice(0, -1), sessionEvent('RunStarted', at, { queued: true })]
  const view = viewAfter(sessions, sessionStream, ...queued)
  const viewer = { userId: 'user-1', onlyKeyId: null }
  const clock = { now: () => new Date('2026-01-01T23:00:00Z'), elapsedHere: () => undefined }
  const get = getSessionStatus({ findSession: findSession({ sessions: view }), clock })
  t.strictSame(await get({ organizationId: 'org-1', viewer, sessionId: 'session-1' }), {
    session_id: 'session-1',
    is_processing: true,
    state: 'queued',
    started_at: at,
    current_agent: 'Orchestrator',
    elapsed_seconds: 0,
  })
})
