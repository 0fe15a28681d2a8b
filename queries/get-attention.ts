import type { ApprovalView } from '../projections/approvals.ts'
import type { RunView } from '../projections/runs.ts'
import type { UnreadableEventView } from '../projections/unreadable-events.ts'
import type { UploadView } from '../projections/uploads.ts'
import type { View } from '../src/ports/views.ts'
import { unreadableAnswer } from './list-unreadable.ts'

type Uses = {
  approvals: Pick<View<ApprovalView>, 'find'>
  runs: Pick<View<RunView>, 'find'>
  uploads: Pick<View<UploadView>, 'find'>
  unreadableEvents: Pick<View<UnreadableEventView>, 'find'>
}

const approvalAnswer = (approval: ApprovalView) => {
  const { approval_id, session_id, run_id, user_id, tool_name, agent_name } = approval
  const { approver, requested_at, expires_at } = approval
  const ids = { approval_id, session_id, run_id, user_id }
  return { ...ids, tool_name, agent_name, approver, requested_at, expires_at }
}

const runAnswer = ({ run_id, session_id, user_id, agent_id, ...run }: RunView) => ({
  run_id,
  session_id,
  user_id: user_id ?? null,
  agent_id: agent_id ?? null,
  agent_name: run.agent,
  started_at: run.started_at,
})

const uploadAnswer = (upload: UploadView) => {
  const { upload_id, datastore_id, filename, error_message, uploaded_at } = upload
  return { upload_id, datastore_id, filename, error_message, uploaded_at }
}

/**
 * What somebody in an organization has to look at, over all of its users: of each kind how many
 * there are, and the newest.
 */
export const getAttention =
  ({ approvals, runs, uploads, unreadableEvents }: Uses) =>
  async (organizationId: string, limit: number) => {
    const newest = { descending: true, limit }

    const pendingOf = (approver: ApprovalView['approver']) =>
      approvals.find({
        index: 'by_approver_status',
        equals: [organizationId, approver, 'pending'],
        ...newest,
      })

    const pending = async () => {
      const [own, admins] = await Promise.all([pendingOf('user'), pendingOf('admin')])
      const items = [...own.items, ...admins.items].sort((a, b) => b.position - a.position)
      return {
        total: own.total + admins.total,
        for_admins: admins.total,
        items: items.slice(0, limit).map(approvalAnswer),
      }
    }

    const inDoubt = async () => {
      const equals = [organizationId, 'in_doubt']
      const { items, total } = await runs.find({ index: 'waiting_of', equals, ...newest })
      return { total, items: items.map(runAnswer) }
    }

    const failed = async () => {
      const equals = [organizationId, 'failed', true]
      const { items, total } = await uploads.find({ index: 'by_status', equals, ...newest })
      return { total, items: items.map(uploadAnswer) }
    }

    const unreadable = async () => {
      const equals = [organizationId, true]
      const index = 'by_organization'
      const { items, total } = await unreadableEvents.find({ index, equals, ...newest })
      return { total, items: items.map(unreadableAnswer) }
    }

    const [pending_approvals, runs_in_doubt, failed_uploads, unreadable_events] = await Promise.all(
      [pending(), inDoubt(), failed(), unreadable()],
    )
    return { pending_approvals, runs_in_doubt, failed_uploads, unreadable_events }
  }
export type GetAttention = ReturnType<typeof getAttention>
