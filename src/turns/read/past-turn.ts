import type { RunView } from '../../../projections/runs.ts'
import type { FindAnswer } from '../../../queries/find-answer.ts'
import type {
  FindPendingApprovals,
  StoredPending,
} from '../../../queries/find-pending-approvals.ts'
import type { ApprovalRequired, TurnDone } from '../../agents/agent-event.ts'
import { refusal } from '../../domain/refusal.ts'
import { isRefusalCode } from '../../domain/refusal-words.ts'
import { limitCode, limitWords } from '../../domain/run-limits.ts'
import { unixSeconds } from '../../support/iso-time.ts'
import { pendingOf } from '../record/run-pause.ts'
import { isAnswered, type LiveTurn, type Outcome, refusalOf } from '../turn.ts'
import { failedItem, turnItems } from '../turn-items.ts'
import { createdOf } from './run-start.ts'

const noneWait: FindPendingApprovals = async () => []

const waitingFor = (approval: StoredPending): ApprovalRequired => ({
  event: 'approval_required',
  at: approval.at,
  approval_id: approval.approval_id,
  tool_name: approval.tool_name,
  tool_id: approval.tool_id,
  agent_name: approval.agent_name,
  arguments: approval.arguments,
  definition: '',
  approver: approval.approver,
  expires_at: approval.expires_at,
})

const completionTime = ({ ended_at }: RunView): { at?: number } =>
  ended_at === null ? {} : { at: unixSeconds(ended_at) }

/** What a client already has of a turn: items, and characters of the answer. */
export type Had = { items: number; characters: number }

/**
 * A turn that is no longer in memory, from what is stored of it: the rest of the answer in one
 * piece, then its end. What agents did on the way is in the event log and not sent again.
 * Undefined while it is queued or runs in another process, and for an unknown run.
 */
export const pastTurn =
  (findAnswer: FindAnswer, findPendingApprovals: FindPendingApprovals = noneWait) =>
  async (runId: string, had: Had = { items: 0, characters: 0 }): Promise<LiveTurn | undefined> => {
    const stored = await findAnswer(runId)
    if (!stored || stored.run.status === 'running' || stored.run.status === 'queued')
      return undefined
    const { run, text, calls } = stored
    const { agent, organization_id, session_id, started_at, status, error_code } = run
    const tool_calls = calls ?? run.tool_calls.map((call) => ({ ...call, arguments: '{}' }))
    const paused = status === 'awaiting_approval' || status === 'in_doubt'
    const approvals = paused ? (await findPendingApprovals(runId)).map(waitingFor) : []
    const done: TurnDone = {
      event: 'done',
      text,
      agent,
      finish_reason: run.finish_reason ?? 'stop',
      ...(tool_calls.length > 0 ? { tool_calls } : {}),
      ...(calls ? { waits: true } : {}),
      usage: { promptTokens: run.prompt_tokens, completionTokens: run.completion_tokens },
      charges: [],
      ...(paused ? { pending: approvals.map(pendingOf) } : {}),
      ...(status === 'in_doubt' ? { in_doubt: true } : {}),
    }
    const code = error_code && isRefusalCode(error_code) ? error_code : 'orchestrator_error'
    const { limit_reached: limit } = run
    const failure = refusal(
      status === 'timed_out' ? 'llm_service_timeout' : code,
      code === limitCode && limit ? { message: limitWords(limit) } : {},
    )
    const failed = status === 'failed' || status === 'timed_out'
    const items = turnItems(had.items)
    const { attempt = 1 } = run
    if (attempt > 1 && had.items === 0) items.push({ event: 'run_resumed', attempt })
    const rest = text.slice(had.characters)
    if (rest !== '') items.push({ event: 'token', agent, step_id: runId, text: rest })
    for (const approval of approvals) items.push(approval)
    const outcome: Outcome = failed
      ? { status: 'failed', refusal: failure }
      : paused
        ? { status: 'paused', done, goesOn: false }
        : status === 'cancelled'
          ? { status, done }
          : { status: 'completed', done, ...completionTime(run) }
    items.push(isAnswered(outcome) ? done : failedItem(refusalOf(outcome)))
    items.close()
    const turn: LiveTurn = {
      runId,
      sessionId: session_id,
      organizationId: organization_id,
      agentId: run.agent_id,
      created: createdOf(runId, Date.parse(started_at)),
      attempt,
      items,
      started: Promise.resolve().then(() => turn),
      outcome: Promise.resolve(outcome),
      cancel: () => undefined,
    }
    return turn
  }
export type PastTurn = ReturnType<typeof pastTurn>
