import { z } from 'zod'

/** Calls of a turn that wait for a decision (docs/contract/approvals.md). */
export const pendingApprovals = z
  .array(
    z.object({
      approval_id: z.string(),
      tool_name: z.string(),
      agent_name: z.string(),
      arguments: z.unknown(),
      arguments_digest: z.string(),
      expires_at: z.iso.datetime(),
    }),
  )
  .describe('Calls that wait for a decision; the turn goes on once one is made')
