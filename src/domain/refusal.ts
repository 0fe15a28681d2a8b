import { type RefusalCode, refusalWords } from './refusal-words.ts'

/** A part of the input that is wrong: where it is, the words for it, and what kind of fault. */
type Issue = { path: readonly (string | number)[]; message: string; kind: string }

/** What a refusal says beside its code. */
export type Facts = {
  /** Replaces the code's own words. */
  message?: string
  /** The field that is wrong, `subAgents.2` for one. */
  field?: string
  /** What is wrong with the field, in words that follow its name. */
  fault?: string
  issues?: readonly Issue[]
  /** What is wrong, by the field of a query. */
  fields?: Readonly<Record<string, readonly string[]>>
  filename?: string
  limit?: number
  window?: 'minute' | 'hour' | 'concurrent'
  /** Unix seconds. */
  resetAt?: number
  /** In seconds. */
  retryAfter?: number
  requiredScopes?: readonly string[]
  missingScopes?: readonly string[]
  availableScopes?: readonly string[]
  /** Scopes that may not be granted. */
  scopes?: readonly string[]
  hasSubscription?: boolean
  currentPlan?: string
  requiredPlans?: readonly string[]
  /** In credits, as is `effectiveBalance`. */
  creditBalance?: number
  effectiveBalance?: number
  canUseApi?: boolean
  /** What is stored for the organization, and how much may be. */
  storedBytes?: number
  quotaBytes?: number
  existingDatastoreId?: string
  /** The agents that prevent it. */
  agents?: readonly { agentId: string; name: string }[]
  /** What is not connected, and why not. */
  skipped?: readonly { name: string; reason: string }[]
}

/** Whose key was refused; for the record, never told to the client. */
type Refused = { organizationId: string; keyId: string | null; userId: string | null }

const wordsOf = (code: RefusalCode, { message, field, fault }: Facts): string =>
  message ?? (fault === undefined ? refusalWords[code] : `${field} ${fault}`)

/** Why something is not done: a code, words for people, and facts for programs. */
export class Refusal extends Error {
  override readonly name = 'Refusal'
  readonly code: RefusalCode
  readonly facts: Facts
  readonly by: Refused | undefined

  constructor(code: RefusalCode, facts: Facts = {}, by?: Refused) {
    super(wordsOf(code, facts))
    this.code = code
    this.facts = facts
    this.by = by
  }
}

export const refusal = (code: RefusalCode, facts?: Facts, by?: Refused) =>
  new Refusal(code, facts, by)
