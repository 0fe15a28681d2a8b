import { z } from 'zod'
import type { EventOf } from '../aggregate.ts'
import { price } from '../price.ts'
import { agentLimits, reachedLimit } from '../run-limits.ts'
import { sealed } from '../sealed.ts'

const id = z.string()
const tokens = z.int().min(0)

const usage = { promptTokens: tokens, completionTokens: tokens, charge: z.int().min(0) }

/** What one model used in a run, at the latest of its prices, and its part of the charge. */
const modelUse = z.object({ model: z.string(), ...usage, price: price.optional() })

/**
 * The cost of a run, in tokens and micro-credits (1 credit = 1,000,000), and the agent that spoke
 * last. `models`, in the order of their first answers, add up to it; absent: it is that of a
 * completed run's only model, or not known. `firstTokenMs`: from the start to the first token.
 */
const cost = {
  ...usage,
  agentId: id.optional(),
  models: z.array(modelUse).optional(),
  firstTokenMs: z.number().min(0).optional(),
}

const finishReason = z.enum(['stop', 'length', 'tool_calls', 'content_filter'])

const toolCall = z.object({ id, name: z.string() })

/** A fork: whose it is, and what it has of which session. */
const fork = {
  userId: id,
  keyId: z.string().nullable(),
  hidden: z.boolean(),
  forkedFrom: id,
  after: id.nullable(),
  messages: z.int().min(0),
}

/** A place in a run, the same in each attempt: which agent, which of its calls. */
const placeInRun = z.string()

/** How many processes have run it, the present one counted. */
const attempt = z.int().min(1)

/**
 * A file in a user's message; its bytes are the blob of that name under the session's data key.
 * `at` characters of the message's text come before it.
 */
export const messagePart = z.object({
  id,
  kind: z.enum(['image', 'audio', 'file']),
  mediaType: z.string(),
  bytes: z.int().min(0),
  blob: z.string(),
  at: z.int().min(0),
  name: sealed.optional(),
  detail: z.enum(['auto', 'low', 'high']).optional(),
  width: z.int().optional(),
  height: z.int().optional(),
})

export type MessagePart = z.infer<typeof messagePart>

/** A call that was begun, has no result, and is not known to have been made. */
const doubtfulCall = z.object({
  toolId: id,
  at: z.string(),
  tool: z.string(),
  agent: z.string(),
  argumentsDigest: z.string(),
})

export type DoubtfulCall = z.infer<typeof doubtfulCall>

// Stored for good: add an optional field or a new event; never rename, never narrow.
export const sessionEvents = {
  /** `userId` owns the session: the user acted for, else the key's backing user. */
  SessionCreated: z.object({ userId: id, keyId: z.string().nullable(), hidden: z.boolean() }),
  SessionVisibilityChanged: z.object({ hidden: z.boolean() }),
  UserMessageSent: z.object({
    messageId: id,
    runId: id,
    content: sealed,
    parts: z.array(messagePart).optional(),
  }),
  /**
   * `agentId` is the agent the turn was given to, `node` the process life that runs it, `payerId`
   * the user charged. `fingerprint` is in events of earlier versions only. `continues` is the run
   * whose calls the client has answered. `request` is what another process needs to go on and the
   * stream does not have; `before` is what the client says came before, where the session has no
   * history. `kept: false`: they were too large, and the run cannot be resumed. `limits` hold for
   * the whole run, also after its agent is changed. `queued`: no process runs it before
   * `RunDequeued`. Without `attempt` its steps are not recorded in full, and it cannot be resumed
   * either. `echo` is what its answer repeats of the request, as JSON. `draft`: the agent was not
   * saved; `request` has its configuration.
   */
  RunStarted: z.object({
    runId: id,
    messageId: id,
    agentId: id,
    agent: z.string(),
    node: z.string(),
    payerId: id,
    fingerprint: z.string().optional(),
    continues: id.optional(),
    attempt: attempt.optional(),
    request: sealed.optional(),
    before: sealed.optional(),
    kept: z.literal(false).optional(),
    limits: agentLimits.optional(),
    queued: z.literal(true).optional(),
    draft: z.literal(true).optional(),
    echo: sealed.optional(),
  }),
  /** This process starts a queued run: its first attempt. */
  RunDequeued: z.object({ runId: id, node: z.string() }),
  /** A process resumes a run from its recorded steps, after a pause or after its process died. */
  RunResumed: z.object({
    runId: id,
    node: z.string(),
    attempt,
    /** Its last processes died, and other such runs were in flight in this process. */
    besideSuspects: z.boolean().optional(),
  }),
  /** A process survived a run whose last processes died: this attempt does not count. */
  RunCleared: z.object({ runId: id, node: z.string() }),
  /** A process that stops in order leaves a run to another. It counts as no failed attempt. */
  RunHandedOver: z.object({ runId: id, node: z.string() }),
  AgentStarted: z.object({
    runId: id,
    stepId: id,
    agentId: id,
    agent: z.string(),
    agentType: z.string(),
    depth: z.int().min(0),
    parentAgent: z.string().nullable(),
    at: placeInRun.optional(),
  }),
  /** `charge` is that of its own model calls, each rounded up to a micro-credit. */
  AgentCompleted: z.object({
    runId: id,
    stepId: id,
    agent: z.string(),
    durationMs: z.number().min(0),
    model: z.string().nullable(),
    promptTokens: tokens,
    completionTokens: tokens,
    error: z.string().optional(),
    at: placeInRun.optional(),
    charge: z.int().min(0).optional(),
    /** The call of its model that it failed with, and the code of that failure. */
    failedCall: z
      .object({
        at: placeInRun,
        model: z.string(),
        durationMs: z.number().min(0),
        code: z.string(),
      })
      .optional(),
  }),
  AgentRouted: z.object({
    runId: id,
    fromAgent: z.string(),
    toAgent: z.string(),
    at: placeInRun.optional(),
  }),
  /**
   * A model's answer, which is never asked for again in its run. The only answer of a run has none:
   * it is the message. `cutBy` is the limit of the run that cut it off.
   */
  ModelAnswered: z.object({
    runId: id,
    at: placeInRun,
    agent: z.string(),
    model: z.string(),
    price,
    promptTokens: tokens,
    completionTokens: tokens,
    finishReason,
    text: sealed,
    calls: z.array(toolCall.extend({ arguments: sealed })).optional(),
    cutBy: z.enum(['tokens', 'credits']).optional(),
    durationMs: z.number().min(0).optional(),
  }),
  /**
   * Stored before the tool is called. `effect` is `read` where calling it twice changes nothing
   * more. `argumentsDigest` is the SHA-256 of the arguments as canonical JSON, in hex.
   */
  ToolStarted: z.object({
    runId: id,
    toolId: id,
    tool: z.string(),
    agent: z.string(),
    arguments: sealed,
    at: placeInRun.optional(),
    effect: z.enum(['read', 'write']).optional(),
    argumentsDigest: z.string().optional(),
  }),
  /**
   * `result` is what the model is told. The outcome is `unknown` where the process that called it
   * died before it had the result. `host`, `httpStatus` and the names of `credentials` are of a
   * call over HTTP.
   */
  ToolCompleted: z.object({
    runId: id,
    toolId: id,
    tool: z.string(),
    agent: z.string(),
    ok: z.boolean(),
    at: placeInRun.optional(),
    outcome: z.enum(['ok', 'failed', 'unknown']).optional(),
    result: sealed.optional(),
    durationMs: z.number().min(0).optional(),
    host: z.string().optional(),
    httpStatus: z.int().optional(),
    credentials: z.array(z.string()).optional(),
  }),
  /**
   * The agents of a run wait for results of the client's own tools. `state` is where they go on
   * from.
   */
  ClientToolsCalled: z.object({ runId: id, calls: z.array(toolCall), state: sealed }),
  /** A client's result. `runId` is the run that resumes with it. */
  ClientToolAnswered: z.object({
    messageId: id,
    runId: id,
    toolId: id,
    tool: z.string(),
    content: sealed,
  }),
  /** A new message of the user closed these calls of a run. */
  ClientToolsUnanswered: z.object({ runId: id, calls: z.array(toolCall) }),
  /**
   * A call waits for a decision. `at` is its place in the run. `definition` is a digest of how the
   * tool was configured. `userId` and `keyId` are the session's owner and the key it was made
   * through.
   */
  ApprovalRequested: z.object({
    approvalId: id,
    runId: id,
    toolId: id,
    at: z.string(),
    tool: z.string(),
    agent: z.string(),
    arguments: sealed,
    argumentsDigest: z.string(),
    definition: z.string(),
    approver: z.enum(['user', 'admin']),
    expiresAt: z.string(),
    userId: id,
    keyId: z.string().nullable(),
  }),
  /** `by` is the user who decided; null for the platform. */
  ApprovalDecided: z.object({
    approvalId: id,
    runId: id,
    decision: z.enum(['approve', 'deny']),
    argumentsDigest: z.string(),
    by: id.nullable(),
    reason: sealed.optional(),
  }),
  /** Nobody decided in time: denied. */
  ApprovalExpired: z.object({ approvalId: id, runId: id }),
  /** The run ended before anybody decided. */
  ApprovalWithdrawn: z.object({
    approvalId: id,
    runId: id,
    cause: z.enum(['cancelled', 'new_message', 'ended']),
  }),
  /**
   * A run stops, in no process, until somebody decides. `text` is what was said so far, and the
   * cost is that until now. `inDoubt` are calls of which it is not known whether they were made:
   * each waits for its `ToolOutcomeTold`.
   */
  RunPaused: z.object({
    runId: id,
    state: z.enum(['awaiting_approval', 'in_doubt']),
    agent: z.string(),
    text: sealed.optional(),
    inDoubt: z.array(doubtfulCall).optional(),
    ...cost,
  }),
  /**
   * Somebody says whether a call was made. `result` is then what the model is told; `by` is the
   * user who said it, null for the platform. What was not done is called again.
   */
  ToolOutcomeTold: z.object({
    runId: id,
    toolId: id,
    at: z.string(),
    outcome: z.enum(['done', 'not_done']),
    result: sealed.optional(),
    by: id.nullable(),
  }),
  /** `toolCalls` are calls of the client's own tools. */
  AssistantMessageRecorded: z.object({
    messageId: id,
    runId: id,
    agent: z.string(),
    content: sealed,
    toolCalls: z.array(toolCall.extend({ arguments: sealed })).optional(),
  }),
  /**
   * A run ends, as of this limit nothing is left: one of its agent fails it, one of the platform
   * completes it with what was said.
   */
  RunLimitReached: z.object({ runId: id, ...reachedLimit.shape }),
  /** `price` is that of the only model. */
  RunCompleted: z.object({
    runId: id,
    finishReason,
    toolCalls: z.array(toolCall).optional(),
    model: z.string(),
    price: price.optional(),
    durationMs: z.number().min(0),
    ...cost,
  }),
  /**
   * `code` is that of the refusal the client was given; `interrupted` where the server died in
   * mid-run and it cannot be resumed. With `run_limit_reached` what was said is kept and charged.
   * `cause` is what the model's provider did, where it is to blame, or why it cannot be resumed.
   */
  RunFailed: z.object({ runId: id, code: z.string(), cause: z.string().optional(), ...cost }),
  RunCancelled: z.object({ runId: id, ...cost }),
  RunTimedOut: z.object({ runId: id, ...cost }),
  /**
   * A copy of a session begins; it is unknown until `SessionForked`. The first `messages` messages
   * of `forkedFrom` are copied, up to `after` (null: none). `node` is the process life that copies
   * them. `forkId` is the same when the same request is made again.
   */
  ForkBegun: z.object({ ...fork, forkId: id, node: id }),
  /** A message of the session that is forked: its id there, its run there, and when it was said. */
  MessageForked: z.object({
    messageId: id,
    from: id,
    fromRun: id,
    saidBy: z.enum(['user', 'assistant', 'tool']),
    at: z.string(),
    content: sealed,
    agent: z.string().optional(),
    toolCalls: z.array(toolCall.extend({ arguments: sealed })).optional(),
    toolId: id.optional(),
    parts: z.array(messagePart).optional(),
  }),
  /** All messages are copied: from here on the fork is a session like any other. */
  SessionForked: z.object(fork),
  /**
   * The session is unknown from here on and its texts' key is destroyed. `deletedBy` is the backing
   * user of the key (null: the platform's); `delegated` where that is not the owner.
   */
  SessionErased: z.object({
    deletedBy: id.nullable(),
    sessionOwner: id,
    delegated: z.boolean(),
  }),
}

export type SessionEvent<Type extends keyof typeof sessionEvents = keyof typeof sessionEvents> =
  EventOf<typeof sessionEvents, Type>

export type RunEndType = 'RunCompleted' | 'RunFailed' | 'RunCancelled' | 'RunTimedOut'

const runEnds: ReadonlySet<string> = new Set<RunEndType>([
  'RunCompleted',
  'RunFailed',
  'RunCancelled',
  'RunTimedOut',
])

/** Whether an event ends a run. */
export const isRunEnd = <Event extends { type: string }>(
  event: Event,
): event is Extract<Event, { type: RunEndType }> => runEnds.has(event.type)
