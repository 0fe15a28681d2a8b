import type { PauseRun } from '../../../commands/pause-run.ts'
import type {
  ApprovalRequired,
  PendingApproval,
  ToolInDoubt,
  TurnDone,
} from '../../agents/agent-event.ts'
import type { SessionEvent } from '../../domain/session/events.ts'
import type { Keyed } from '../../security/vault.ts'
import { digestOf } from './arguments-digest.ts'

const parsed = (text: string): unknown => JSON.parse(text.trim() || '{}')

/** A call that waits, as it is shown for the decision. */
export const pendingOf = (approval: ApprovalRequired): PendingApproval => {
  const { approval_id, tool_name, agent_name, arguments: text, expires_at } = approval
  return {
    approval_id,
    tool_name,
    agent_name,
    arguments: parsed(text),
    arguments_digest: digestOf(text),
    expires_at,
  }
}

type Paused = {
  runId: string
  approvals: readonly ApprovalRequired[]
  inDoubt: readonly ToolInDoubt[]
  done: TurnDone
  cost: { promptTokens: number; completionTokens: number; charge: number; agentId: string }
}

const doubtOf = ({ tool_id, at, tool_name, agent_name, arguments: text }: ToolInDoubt) => ({
  toolId: tool_id,
  at,
  tool: tool_name,
  agent: agent_name,
  argumentsDigest: digestOf(text),
})

type Request = PauseRun['requests'][number]

/** The stored pause of a run. Approvals requested in earlier attempts are stored already. */
export const pauseOf = (
  { runId, approvals, inDoubt, done, cost }: Paused,
  { seal }: Keyed,
): Pick<PauseRun, 'requests' | 'paused'> => {
  const requests = approvals
    .filter(({ replayed }) => !replayed)
    .map(
      (approval): Request => ({
        approvalId: approval.approval_id,
        runId,
        toolId: approval.tool_id,
        at: approval.at,
        tool: approval.tool_name,
        agent: approval.agent_name,
        arguments: seal(approval.arguments),
        argumentsDigest: digestOf(approval.arguments),
        definition: approval.definition,
        approver: approval.approver,
        expiresAt: approval.expires_at,
      }),
    )
  const paused: SessionEvent<'RunPaused'>['data'] = {
    runId,
    state: inDoubt.length > 0 ? 'in_doubt' : 'awaiting_approval',
    agent: done.agent,
    ...(done.text === '' ? {} : { text: seal(done.text) }),
    ...(inDoubt.length > 0 ? { inDoubt: inDoubt.map(doubtOf) } : {}),
    ...cost,
  }
  return { requests, paused }
}
