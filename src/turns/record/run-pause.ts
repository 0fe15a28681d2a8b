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

/** A call that waits, as those who may decide are shown it. */
export const pendingOf = (asked: ApprovalRequired): PendingApproval => {
  const { approval_id, tool_name, agent_name, arguments: text, expires_at } = asked
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
  asked: readonly ApprovalRequired[]
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

/** What is stored of a run that stops until somebody decides; what was asked for before is stored. */
export const pauseOf = (
  { runId, asked, inDoubt, done, cost }: Paused,
  { seal }: Keyed,
): Pick<PauseRun, 'requests' | 'paused'> => {
  const requests = asked
    .filter(({ replayed }) => !replayed)
    .map(
      (one): Request => ({
        approvalId: one.approval_id,
        runId,
        toolId: one.tool_id,
        at: one.at,
        tool: one.tool_name,
        agent: one.agent_name,
        arguments: seal(one.arguments),
        argumentsDigest: digestOf(one.arguments),
        definition: one.definition,
        approver: one.approver,
        expiresAt: one.expires_at,
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
