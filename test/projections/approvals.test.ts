import t from 'tap'
import { approvals } from '../../projections/approvals.ts'
import { handlesAll, projecting } from '../support/given.ts'
import { sessionEvent, sessionStream } from '../support/session-events.ts'
import { viewAfter } from '../support/view-after.ts'

const at = '2026-01-01T00:00:00.000Z'
const later = '2026-01-02T00:00:00.000Z'
const approvalRequested = sessionEvent('ApprovalRequested')

t.test('approvals', async (t) => {
  const seen = projecting(t, approvals, sessionStream)
  seen(approvalRequested).shows({
    approval_id: 'approval-1',
    organization_id: 'org-1',
    session_id: 'session-1',
    run_id: 'run-1',
    tool_id: 'call_1',
    tool_name: 'refund',
    agent_name: 'Orchestrator',
    arguments: approvalRequested.data.arguments,
    arguments_digest: approvalRequested.data.argumentsDigest,
    status: 'pending',
    approver: 'user',
    requested_at: at,
    expires_at: approvalRequested.data.expiresAt,
    decided_at: null,
    decided_by: null,
    reason: null,
    user_id: 'user-1',
    key_id: 'key-1',
  })
  const { data } = sessionEvent('ApprovalDecided')
  seen(approvalRequested, sessionEvent('ApprovalDecided', later)).shows({
    status: 'approved',
    decided_at: later,
    decided_by: 'user-1',
    reason: data.reason ?? null,
  })
  const { reason: _, ...denied } = { ...data, decision: 'deny' as const }
  seen(approvalRequested, {
    type: 'ApprovalDecided',
    data: { ...denied, by: null },
    at: later,
  }).shows({
    status: 'denied',
    decided_by: null,
    reason: null,
  })
  seen(approvalRequested, sessionEvent('ApprovalExpired', later)).shows({
    status: 'expired',
    decided_at: later,
    decided_by: null,
  })
  seen(approvalRequested, sessionEvent('ApprovalWithdrawn', later)).shows({
    status: 'withdrawn',
    decided_at: later,
  })
  seen(sessionEvent('ApprovalDecided')).showsNothing()
})

t.test('nothing is shown of an erased session', async (t) => {
  projecting(
    t,
    approvals,
    sessionStream,
  )(approvalRequested, sessionEvent('SessionErased', later)).showsNothing()
})

t.test('every event it handles was given', async (t) => handlesAll(t, approvals))

t.test('analysts see an approval without its internal fields', async (t) => {
  const view = viewAfter(approvals, sessionStream, approvalRequested)
  const document = await view.get('approval-1')
  if (!document) throw new Error('there is no approval')
  const answer = approvals.shown?.document?.(document) ?? {}
  const internal = Object.keys(document).filter((field) => !(field in answer))
  t.strictSame(internal, ['position'])
  t.match(answer, { approval_id: 'approval-1', status: 'pending', tool_name: 'refund' })
})
