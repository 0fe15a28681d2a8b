import type { RunView } from '../../../projections/runs.ts'
import type { RuntimePorts } from '../../agents/agent-kind.ts'
import type { FindAgents } from '../../caches/find-agents.ts'
import { requireActive, requireCallable } from '../../domain/agent/runnable.ts'
import { runsAtOnceOf } from '../../domain/plan.ts'
import { refusal } from '../../domain/refusal.ts'
import type { Clock } from '../../ports/clock.ts'
import type { AnswerFormat, ChatMessage, ModelSettings, Models } from '../../ports/model.ts'
import type { Asker, Delegate, Delegated } from '../../security/delegate.ts'
import { idFor } from '../../support/ids.ts'
import type { PastTurn } from '../read/past-turn.ts'
import type { Kept } from '../run/live-turns.ts'
import type { Turns } from '../run/turns.ts'
import type { LiveTurn, ToolAnswer, TurnRequest } from '../turn.ts'
import { findCalledSession, requireFreeNames } from './client-tools.ts'
import { type ArrivedPart, type ReceiveParts, withFiles } from './receive-parts.ts'
import type { RequireSubscription } from './require-subscription.ts'
import {
  type Attempt,
  hasFailed,
  isCancelled,
  type RequestContent,
  type Retries,
} from './retries.ts'
import type { SaidBefore, SentPart } from './sent-parts.ts'
import type { StorageQuotas } from './storage-quotas.ts'
import { requireTaken } from './supported-parts.ts'
import { requireShortTexts } from './text-limits.ts'
import type { WarmAgents } from './warm-agents.ts'

export type BeginTurnUses = {
  turns: Turns
  pastTurn: PastTurn
  findAgents: FindAgents
  delegate: Delegate
  requireSubscription: RequireSubscription
  storage: Pick<StorageQuotas, 'require'>
  retries: Retries
  warmAgents: WarmAgents
  toolsOf: RuntimePorts['toolsOf']
  models: Models
  receiveParts: ReceiveParts
  findRun(runId: string): Promise<RunView | undefined>
  clock: Clock
}

/**
 * `message` is what is asked there, where the session has it, with its files; `follows` the run
 * that its latest turn has to be.
 */
export type TurnPlace = {
  sessionId: string
  message?: string
  files?: readonly ArrivedPart[]
  follows?: string
}

/** `sessionId` is where an earlier attempt of the request has placed it. */
export type PlacedMessage = { messageId: string; sessionId: string | undefined }

/** A message to the orchestrator or to one agent, over HTTP or a socket. */
export type TurnAsked = {
  message: string
  /** Files of the message. */
  parts?: readonly SentPart[]
  system?: readonly ChatMessage[]
  before?: readonly SaidBefore[]
  /**
   * In place of a message: results of the client's tools, with what the client has of their turn.
   */
  results?: readonly ToolAnswer[] | undefined
  after?: readonly ChatMessage[] | undefined
  /** The client's own tools that agents may call. */
  clientTools?: TurnRequest['clientTools'] | undefined
  keywordTools?: TurnRequest['keywordTools'] | undefined
  sessionId: string | undefined
  /** Finds or makes the session once all else is checked. */
  place?: ((delegated: Delegated, message: PlacedMessage) => Promise<TurnPlace>) | undefined
  hidden: boolean | undefined
  onBehalfOf: string | undefined
  /** The orchestrator hands the turn straight to this agent. */
  targetAgentId?: string | undefined
  /** The same, where this is the id of an active agent; any other name means the orchestrator. */
  model?: string | undefined
  /** This agent is given the turn instead of the orchestrator. */
  agentId?: string
  /** That agent may be of any type; else it is an LLM agent. */
  anyAgentType?: true
  settings?: ModelSettings | undefined
  format?: AnswerFormat | undefined
  /** What its answer repeats of the request. */
  echo?: TurnRequest['echo']
  keep: Kept
  /** The client is given the answer whole, not as it comes. */
  whole?: boolean
  /** No client waits for the answer: the run may be queued. */
  background?: boolean
}

/** How a request may be a repetition of an earlier one. */
export type Repetition = {
  /** The run that was streamed to the first request with its idempotency key. */
  run?: string | undefined
  /** The message of a turn that was cancelled is asked again. */
  askAgain?: boolean
  /**
   * Set where the first request with its idempotency key was streamed or cut off: called, before
   * the turn is answered, when that request had begun it.
   */
  onRepeated?: () => void
  /** Without an idempotency key. */
  unkeyed?: { attempt: Attempt; content: RequestContent }
}

const none: readonly never[] = []

/** Whether a model's name can be an agent's id: most are not looked up. */
const isAgentId = (model: string | undefined): boolean =>
  model !== undefined && /^[\da-f]{8}(?:-[\da-f]{4}){3}-[\da-f]{12}$/.test(model)

/** What a client has sent with its message, and with what it says came before. */
const filesIn = (parts: readonly SentPart[], before: readonly SaidBefore[]) =>
  before.length > 0 ? [...parts, ...before.flatMap((one) => one.sent ?? [])] : parts

/**
 * The sizes of texts, steps 7 to 9 of the order of checks, then the turn: for whom, who pays, which
 * agent. A repeated request is answered by the turn that the first one began. @throws Refusal
 */
export const beginTurn = (uses: BeginTurnUses) => {
  const { turns, pastTurn, findAgents, delegate, requireSubscription, retries, warmAgents, clock } =
    uses

  const requireFree = requireFreeNames(uses.toolsOf)
  const calledSession = findCalledSession(uses.findRun)

  const streamed = async (runId: string, askAgain = false) => {
    const turn = turns.find(runId) ?? (await pastTurn(runId, { items: 0, characters: 0 }))
    if (!turn) throw refusal('service_unavailable')
    return (await hasFailed(turn)) || (askAgain && (await isCancelled(turn))) ? undefined : turn
  }

  return async (asker: Asker, asked: TurnAsked, repetition: Repetition = {}): Promise<LiveTurn> => {
    const { access } = asker
    const { message, system = none, before: said = none, hidden, keep } = asked
    const { results, after = none, clientTools, parts = none } = asked
    requireShortTexts({ message, system, before: said, after, results })
    const { run, onRepeated, unkeyed, askAgain } = repetition
    const delegated = delegate(asker, asked.onBehalfOf)
    const { call, viewer } = delegated instanceof Promise ? await delegated : delegated
    const payerId = await requireSubscription(access)
    const { organizationId } = access
    const { userId } = viewer
    const retry = unkeyed && (await retries({ ...unkeyed, organizationId, userId }))
    const before = retry?.turn ?? (run ? await streamed(run, askAgain) : undefined)
    if (before) {
      onRepeated?.()
      return before
    }
    await uses.storage.require(access)
    const failed = retry?.failed
    const messageId = failed?.messageId ?? idFor(clock, call, 'message')
    const { agentId, targetAgentId, model } = asked
    const targets = [targetAgentId, isAgentId(model) ? model : undefined]
    const found = findAgents(access.organizationId, { agentId, targets })
    const { orchestrator, agents } = found instanceof Promise ? await found : found
    const require = asked.anyAgentType ? requireActive : requireCallable
    const agent = agentId ? require(agents.get(agentId)) : orchestrator
    const named = model === orchestrator.agentId ? undefined : agents.get(model ?? '')
    const target = targetAgentId
      ? requireActive(agents.get(targetAgentId))
      : named?.isActive
        ? named
        : undefined
    if (clientTools) await requireFree({ tools: clientTools, agent: target ?? agent, agents, call })
    if (!results) requireTaken({ parts, agent: target ?? agent, agents, models: uses.models })
    const placed = { messageId, sessionId: failed?.sessionId }
    const place = asked.place && (await asked.place({ call, viewer }, placed))
    const follows = place?.follows
    const called = results && !place && !asked.sessionId
    const sessionId = called
      ? await calledSession(organizationId, results, after)
      : (place?.sessionId ?? asked.sessionId)
    const continues = results && sessionId !== undefined
    // A turn that goes on has the files of its message.
    const sent = continues ? [] : filesIn(parts, said)
    const arrived = sent.length > 0 ? await uses.receiveParts(sent) : undefined
    const files = arrived?.parts ?? none
    const own = place?.files ?? files.slice(0, parts.length)
    const request: TurnRequest = {
      call,
      viewer,
      payerId,
      sessionId: sessionId ?? failed?.sessionId ?? idFor(clock, call, 'session'),
      // With a scope, the same call may have made the session before.
      isNewSession: sessionId === undefined && call.scope === undefined && !failed,
      hidden,
      messageId,
      agent,
      agents,
      message: place?.message ?? message,
      system,
      before: said.length > 0 ? withFiles(said, files.slice(parts.length)) : none,
    }
    if (arrived || own.length > 0) request.files = { ...arrived, parts: own }
    if (continues) request.results = results
    else if (results) request.after = after
    if (askAgain && !results) request.askAgain = true
    if (clientTools) request.clientTools = clientTools
    if (asked.keywordTools) request.keywordTools = asked.keywordTools
    if (target) request.target = target
    if (follows !== undefined) request.follows = follows
    if (asked.settings) request.settings = asked.settings
    if (asked.format) request.format = asked.format
    if (asked.echo) request.echo = asked.echo
    if (asked.whole) request.whole = true
    warmAgents.used(organizationId, viewer.userId, agent.agentId)
    if (target) warmAgents.used(organizationId, viewer.userId, target.agentId)
    // Another attempt may continue a failed run once this one is closed.
    if (failed && unkeyed?.attempt.isClosed()) throw refusal('service_unavailable')
    const turn = turns.send(request, {
      keep,
      runsAtOnce: runsAtOnceOf(access.plan),
      background: asked.background === true,
    })
    retry?.begun(turn.runId, { sessionId: turn.sessionId, messageId })
    if (!onRepeated) return turn
    const started = await turn.started
    if (started !== turn) onRepeated()
    return started
  }
}
export type BeginTurn = ReturnType<typeof beginTurn>
