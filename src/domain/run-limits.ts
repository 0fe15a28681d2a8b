import { z } from 'zod'
import { creditUnit } from './amounts.ts'

/** The limits that an agent sets for a run; all are optional. `charge` is in micro-credits. */
export const agentLimits = z
  .object({
    steps: z.int().min(1),
    tokens: z.int().min(1),
    charge: z.int().min(1),
    seconds: z.int().min(1),
  })
  .partial()
export type AgentLimits = z.infer<typeof agentLimits>

/**
 * A limit that ended a run. `used` and `allowed` are in its unit: micro-credits for `credits`. Only
 * the platform limits `model_calls`.
 */
export const reachedLimit = z.object({
  limit: z.enum(['steps', 'tokens', 'credits', 'seconds', 'model_calls']),
  used: z.number().min(0),
  allowed: z.number().min(0),
  setBy: z.enum(['agent', 'platform']),
})
export type ReachedLimit = z.infer<typeof reachedLimit>

/** How long a run may take (docs/contract/limits.md#times), in milliseconds. */
export const runTimeOutMs = 30 * 60_000

/** The code that a run fails with which has reached a limit of its agent. */
export const limitCode = 'run_limit_reached'

type Limited = { limits?: AgentLimits | null | undefined }

/**
 * The limits of a whole run: those of the agent that the client names, and where it has none those
 * of the agent that takes the turn. Limits of their sub-agents are ignored.
 */
export const limitsOfRun = ({ limits: own }: Limited, target: Limited = {}): AgentLimits => {
  if (!own && !target.limits) return {}
  const all = { ...own, ...target.limits }
  return Object.fromEntries(Object.entries(all).filter(([, value]) => value !== undefined))
}

/** What a run has used in all its attempts. `charge` is in micro-credits. */
export type Used = { steps: number; tokens: number; charge: number; ms: number }

const reached = (
  limit: ReachedLimit['limit'],
  used: number,
  allowed: number | undefined,
): ReachedLimit | undefined =>
  allowed !== undefined && used >= allowed ? { limit, used, allowed, setBy: 'agent' } : undefined

/** The limit of which nothing is left, so that nothing may begin. */
const usedUp = ({ tokens, charge, seconds }: AgentLimits, used: Used): ReachedLimit | undefined =>
  reached('seconds', used.ms / 1_000, seconds) ??
  reached('tokens', used.tokens, tokens) ??
  reached('credits', used.charge, charge)

/** The limit that forbids another step: an agent that starts, or a tool that is called. */
export const limitOfStep = (limits: AgentLimits, used: Used): ReachedLimit | undefined =>
  reached('steps', used.steps, limits.steps) ?? usedUp(limits, used)

/** A call of a model. `promptTokens` is an estimate; the price is in micro-credits a token. */
export type ModelCall = { promptTokens: number; price: { prompt: number; completion: number } }

/** What a model may answer: at most so many tokens. Undefined: nothing of the run limits it. */
export type AnswerLimit = { tokens: number; limit: 'tokens' | 'credits' } | undefined

/** The limit that forbids a call of a model, or how long the answer may be. */
export const limitOfCall = (
  limits: AgentLimits,
  used: Used,
  { promptTokens, price }: ModelCall,
): { reached: ReachedLimit } | { answer: AnswerLimit } => {
  const none = usedUp(limits, used)
  if (none) return { reached: none }
  const { tokens = Number.POSITIVE_INFINITY, charge = Number.POSITIVE_INFINITY } = limits
  const tokensLeft = tokens - used.tokens - promptTokens
  if (tokensLeft < 1)
    return { reached: { limit: 'tokens', used: used.tokens, allowed: tokens, setBy: 'agent' } }
  const chargeLeft = charge - used.charge - promptTokens * price.prompt
  const payable = price.completion === 0 ? chargeLeft : Math.floor(chargeLeft / price.completion)
  if (chargeLeft < 0 || (price.completion > 0 && payable < 1))
    return { reached: { limit: 'credits', used: used.charge, allowed: charge, setBy: 'agent' } }
  const paid = price.completion === 0 ? Number.POSITIVE_INFINITY : payable
  const most = Math.min(tokensLeft, paid)
  if (most > Number.MAX_SAFE_INTEGER) return { answer: undefined }
  return { answer: { tokens: most, limit: paid < tokensLeft ? 'credits' : 'tokens' } }
}

/** The limit that a run is over while models answer. */
export const limitPassed = (
  { tokens, charge }: AgentLimits,
  used: Used,
): ReachedLimit | undefined => {
  if (tokens !== undefined && used.tokens > tokens) return reached('tokens', used.tokens, tokens)
  if (charge !== undefined && used.charge > charge) return reached('credits', used.charge, charge)
  return undefined
}

/** The same limit as a model's answer was cut off by. */
export const limitOfAnswer = (
  limit: 'tokens' | 'credits',
  { tokens = 0, charge = 0 }: AgentLimits,
  used: Used,
): ReachedLimit =>
  limit === 'tokens'
    ? { limit, used: used.tokens, allowed: tokens, setBy: 'agent' }
    : { limit, used: used.charge, allowed: charge, setBy: 'agent' }

const inWords = ({ limit, used, allowed }: Pick<ReachedLimit, 'limit' | 'used' | 'allowed'>) => {
  if (limit === 'credits') return `${used / creditUnit} of ${allowed / creditUnit} credits`
  const unit = limit === 'model_calls' ? 'model calls' : limit
  const rounded = limit === 'seconds' ? Math.round(used * 10) / 10 : used
  return `${rounded} of ${allowed} ${unit}`
}

/** The client's message about the limit that ended its turn. */
export const limitWords = (
  reachedLimit: Pick<ReachedLimit, 'limit' | 'used' | 'allowed'>,
): string => `The run has used ${inWords(reachedLimit)} that its agent allows, and needed more`
