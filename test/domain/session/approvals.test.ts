import t from 'tap'
import { evolved } from '../../../src/domain/aggregate.ts'
import {
  canGoOn,
  type Decision,
  decideApproval,
  decideExpiry,
  decidePause,
  endPaused,
} from '../../../src/domain/session/approvals.ts'
import { decideErase } from '../../../src/domain/session/erase.ts'
import type { SessionEvent } from '../../../src/domain/session/events.ts'
import { decideSend, type Send } from '../../../src/domain/session/send.ts'
import { session } from '../../../src/domain/session/session.ts'
import { deciding } from '../../support/given.ts'
import { runningSession, sessionEvent } from '../../support/session-events.ts'

const { data: requested } = sessionEvent('ApprovalRequested')
const { data: paused } = sessionEvent('RunPaused')
const { userId, keyId, ...request } = requested
const pausedSession = [
  ...runningSession,
  sessionEvent('ApprovalRequested'),
  sessionEvent('RunPaused'),
]
const other = { ...request, approvalId: 'approval-2', at: '0.1/1/0', toolId: 'call_2' }
const approved = sessionEvent('ApprovalDecided')
const withdrawn: SessionEvent = {
  type: 'ApprovalWithdrawn',
  data: { approvalId: 'approval-1', runId: 'run-1', cause: 'new_message' },
}
const early = '2026-01-01T12:00:00.000Z'

const says = (change: Partial<Decision> = {}) =>
  decideApproval({
    approvalId: 'approval-1',
    decision: 'approve',
    argumentsDigest: requested.argumentsDigest,
    by: 'user-1',
    reason: approved.data.reason,
    at: early,
    ...change,
  })

t.test('a run pauses with what it asks for, once', async (t) => {
  const pause = decidePause({ requests: [request, other], paused }, { node: 'node-1', attempt: 1 })
  deciding(
    t,
    session,
  )(...runningSession)
    .when(pause)
    .emitsOnce(
      { type: 'ApprovalRequested', data: { ...request, userId, keyId } },
      { type: 'ApprovalRequested', data: { ...other, userId, keyId } },
      { type: 'RunPaused', data: paused },
    )
  deciding(t, session)(...runningSession, sessionEvent('RunCancelled'))
    .when(pause)
    .changesNothing()
})

t.test('a call is approved or denied', async (t) => {
  const when = deciding(t, session)(...pausedSession).when
  when(says()).emitsOnce(approved)
  const denied = { ...approved.data, decision: 'deny' } as const
  const { reason: _, ...without } = denied
  when(says({ decision: 'deny', reason: undefined })).emitsOnce({
    type: 'ApprovalDecided',
    data: without,
  })
})

t.test('what cannot be decided', async (t) => {
  const given = deciding(t, session)
  given(...pausedSession)
    .when(says({ argumentsDigest: 'another' }))
    .refuses('arguments_changed')
  given(...pausedSession, approved)
    .when(says())
    .refuses('approval_decided')
  given(...pausedSession, approved)
    .when(says({ decision: 'deny', argumentsDigest: 'another' }))
    .refuses('approval_decided')
  given(...pausedSession, sessionEvent('ApprovalExpired'))
    .when(says())
    .refuses('approval_decided')
  given(...pausedSession)
    .when(says({ at: requested.expiresAt }))
    .refuses('approval_decided')
  given(...pausedSession, sessionEvent('RunCancelled'))
    .when(says())
    .refuses('approval_decided')
  given(...pausedSession, sessionEvent('SessionErased'))
    .when(says())
    .refuses('approval_decided')
})

t.test('an approval that nobody decides in time is denied, once', async (t) => {
  const given = deciding(t, session)
  const late = decideExpiry('approval-1', requested.expiresAt)
  given(...pausedSession)
    .when(late)
    .emitsOnce(sessionEvent('ApprovalExpired'))
  given(...pausedSession)
    .when(decideExpiry('approval-1', early))
    .changesNothing()
  given(...pausedSession, approved)
    .when(late)
    .changesNothing()
  given(...runningSession)
    .when(late)
    .changesNothing()
})

t.test('a paused run can resume once its approval is decided or expired', async (t) => {
  const goesOn = (...events: SessionEvent[]) => canGoOn(evolved(session, session.initial, events))
  t.notOk(goesOn(...runningSession))
  t.notOk(goesOn(...pausedSession))
  t.ok(goesOn(...pausedSession, approved))
  t.ok(goesOn(...pausedSession, sessionEvent('ApprovalExpired')))
  const open = sessionEvent('ApprovalRequested')
  t.notOk(goesOn(...runningSession, open, approved), 'it has not stopped yet')
  t.ok(
    goesOn(...runningSession, open, approved, sessionEvent('RunPaused')),
    'decided before it did',
  )
  t.notOk(goesOn(...pausedSession, approved, sessionEvent('RunCancelled')))
})

const message: Send = {
  viewer: { userId: 'user-1', onlyKeyId: null },
  keyId: 'key-1',
  hidden: undefined,
  agentId: 'agent-1',
  agent: 'Orchestrator',
  node: 'node-1',
  payerId: 'user-1',
  messageId: 'message-9',
  runId: 'run-9',
  content: { $sealed: 'session:org-1/session-1', box: 'Hi' },
}
const send = decideSend(message)

t.test('a new message cancels a run that waits, which keeps what it said', async (t) => {
  const { runId, agent, text, state: _, ...cost } = paused
  if (!text) throw new Error('the sample has a text')
  const [closed, answer, end, ...message] = send(evolved(session, session.initial, pausedSession))
  t.strictSame(
    [closed, answer, end],
    [
      withdrawn,
      {
        type: 'AssistantMessageRecorded',
        data: { messageId: 'run-1', runId, agent, content: text },
      },
      { type: 'RunCancelled', data: { runId, ...cost } },
    ],
  )
  t.match(message, [{ type: 'UserMessageSent' }, { type: 'RunStarted', data: { runId: 'run-9' } }])
  const after = evolved(session, session.initial, [
    ...pausedSession,
    ...send(evolved(session, session.initial, pausedSession)),
  ])
  t.match(after, { running: { runId: 'run-9' }, approvals: [], paused: null })
})

t.test('the message of a run that waits can be sent again: the run answers it', async (t) => {
  const again = decideSend({ ...message, messageId: 'message-1' })
  deciding(
    t,
    session,
  )(...pausedSession)
    .when(again)
    .changesNothing()
})

t.test('nothing is left of it when the session is erased', async (t) => {
  const erase = decideErase({ sessionOwner: 'user-1', deletedBy: 'user-1' })
  const state = evolved(session, session.initial, pausedSession)
  const after = evolved(session, session.initial, [...pausedSession, ...erase(state)])
  t.match(after, { status: 'erased', approvals: [], paused: null })
})

t.test('a run that said nothing leaves no message; without one nothing is done', async (t) => {
  const { text: _, ...silent } = paused
  const state = evolved(session, session.initial, [
    ...runningSession,
    { type: 'RunPaused', data: silent },
  ])
  t.match(endPaused(state, 'cancelled'), [{ type: 'RunCancelled' }])
  deciding(
    t,
    session,
  )(...runningSession)
    .when((state) => endPaused(state, 'cancelled'))
    .changesNothing()
})
