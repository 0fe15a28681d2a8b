import t from 'tap'
import { approvals } from '../../projections/approvals.ts'
import { runs } from '../../projections/runs.ts'
import type { UnreadableEventView } from '../../projections/unreadable-events.ts'
import { uploads } from '../../projections/uploads.ts'
import { getAttention } from '../../queries/get-attention.ts'
import { fileEvents } from '../../src/domain/file/events.ts'
import type { Find } from '../../src/ports/views.ts'
import { sampleOf } from '../support/events.ts'
import { at } from '../support/positions.ts'
import { sessionEvent, sessionStream } from '../support/session-events.ts'
import { viewAfter } from '../support/view-after.ts'

const requested = (approvalId: string, approver: 'user' | 'admin') =>
  sessionEvent('ApprovalRequested', undefined, { approvalId, approver, userId: 'user-9' })

const paused = (runId: string, state: 'in_doubt' | 'awaiting_approval') => [
  sessionEvent('RunStarted', undefined, { runId, agentId: 'agent-1', agent: 'Shop' }),
  sessionEvent('RunPaused', undefined, { runId, state }),
]

const uploadEvents = (uploadId: string, failed: boolean) => [
  sampleOf(fileEvents, 'UploadReceived', { uploadId }),
  ...(failed ? [sampleOf(fileEvents, 'UploadFailed', { uploadId, reason: 'encrypted' })] : []),
]

const unreadableEvents = {
  async find({ equals, limit }: Find) {
    const all: UnreadableEventView[] = ['org-1', 'org-2'].map((organization_id, n) => ({
      position: at(n),
      organization_id,
      stream: `agent-${organization_id}_1`,
      revision: 0,
      type: 'AgentCreated',
      reason: 'invalid_type at data.name',
      unreadable: true,
    }))
    const items = all.filter(({ organization_id }) => organization_id === equals[0])
    return { items: items.slice(0, limit), total: items.length }
  },
}

const look = getAttention({
  approvals: viewAfter(
    approvals,
    sessionStream,
    requested('a-1', 'user'),
    requested('a-2', 'admin'),
    requested('a-3', 'user'),
    requested('a-4', 'user'),
    sessionEvent('ApprovalDecided', undefined, { approvalId: 'a-4' }),
  ),
  runs: viewAfter(
    runs,
    sessionStream,
    ...paused('run-1', 'in_doubt'),
    ...paused('run-2', 'awaiting_approval'),
    ...paused('run-3', 'in_doubt'),
    sessionEvent('RunResumed', undefined, { runId: 'run-3' }),
  ),
  uploads: viewAfter(
    uploads,
    'file-org-1_1',
    ...uploadEvents('u-1', true),
    ...uploadEvents('u-2', false),
  ),
  unreadableEvents,
})

t.test('all that waits for somebody is counted, over all users', async (t) => {
  t.match(await look('org-1', 10), {
    pending_approvals: {
      total: 3,
      for_admins: 1,
      items: [
        { approval_id: 'a-3', approver: 'user', user_id: 'user-9', tool_name: String },
        { approval_id: 'a-2', approver: 'admin' },
        { approval_id: 'a-1' },
      ],
    },
    runs_in_doubt: {
      total: 1,
      items: [
        { run_id: 'run-1', session_id: 'session-1', agent_id: 'agent-1', agent_name: 'Shop' },
      ],
    },
    failed_uploads: { total: 1, items: [{ upload_id: 'u-1', error_message: 'encrypted' }] },
    unreadable_events: { total: 1, items: [{ position: 0, type: 'AgentCreated' }] },
  })
})

t.test('only the newest are listed, all are counted', async (t) => {
  t.match(await look('org-1', 1), {
    pending_approvals: { total: 3, for_admins: 1, items: { length: 1, 0: { approval_id: 'a-3' } } },
  })
})

t.test('nothing of another organization is counted', async (t) => {
  const empty = { total: 0, items: { length: 0 } }
  t.match(await look('org-2', 10), {
    pending_approvals: { ...empty, for_admins: 0 },
    runs_in_doubt: empty,
    failed_uploads: empty,
    unreadable_events: { total: 1, items: [{ stream: 'agent-org-2_1' }] },
  })
})
