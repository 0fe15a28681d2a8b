import type { Facts, Refusal } from '../../domain/refusal.ts'

/** A JSON object. */
export type Body = Record<string, unknown>

/** Fields whose names on the wire differ from the domain's. */
const wireNames: Readonly<Record<string, string>> = {
  expiresAt: 'expires_at',
  subAgents: 'sub_agents',
}

/** The invalid field, by its name on the wire: `sub_agents.2`. */
export const paramOf = ({ facts: { field } }: Refusal): string | undefined =>
  field?.replace(
    /^\w+/,
    (name) => (Object.hasOwn(wireNames, name) ? wireNames[name] : name) ?? name,
  )

/** The message of a refusal, for clients. */
export const messageOf = (refusal: Refusal): string => {
  const { fault } = refusal.facts
  return fault === undefined ? refusal.message : `${paramOf(refusal)} ${fault}`
}

type WireFact = Exclude<keyof Facts, 'message' | 'field' | 'fault'>

/** What each fact is on the wire. */
const writers: Record<WireFact, (facts: Facts) => Body> = {
  issues: ({ issues }) => ({
    issues: issues?.map(({ path, message, kind }) => ({ loc: path, msg: message, type: kind })),
  }),
  fields: ({ fields }) => ({ fields }),
  filename: ({ filename }) => ({ filename }),
  limit: ({ limit }) => ({ limit }),
  window: ({ window }) => ({ window }),
  resetAt: ({ resetAt }) => ({ reset_at: resetAt }),
  retryAfter: ({ retryAfter }) => ({ retry_after: retryAfter }),
  requiredScopes: ({ requiredScopes }) => ({ required_scopes: requiredScopes }),
  missingScopes: ({ missingScopes }) => ({ missing_scopes: missingScopes }),
  availableScopes: ({ availableScopes }) => ({ available_scopes: availableScopes }),
  scopes: ({ scopes }) => ({ scopes }),
  hasSubscription: ({ hasSubscription }) => ({ has_subscription: hasSubscription }),
  currentPlan: ({ currentPlan }) => ({ current_plan: currentPlan }),
  requiredPlans: ({ requiredPlans }) => ({ required_plans: requiredPlans }),
  creditBalance: ({ creditBalance }) => ({ credit_balance: creditBalance }),
  effectiveBalance: ({ effectiveBalance }) => ({ effective_balance: effectiveBalance }),
  canUseApi: ({ canUseApi }) => ({ can_use_api: canUseApi }),
  storedBytes: ({ storedBytes }) => ({ stored_bytes: storedBytes }),
  quotaBytes: ({ quotaBytes }) => ({ quota_bytes: quotaBytes }),
  existingDatastoreId: ({ existingDatastoreId }) => ({
    existing_datastore_id: existingDatastoreId,
  }),
  agents: ({ agents }) => ({
    agents: agents?.map(({ agentId, name }) => ({ agent_id: agentId, name })),
  }),
  skipped: ({ skipped }) => ({ skipped }),
}

const isWritten = (name: string): name is WireFact => Object.hasOwn(writers, name)

/** The documented fields beside message, type, code and param, in the order they were given. */
export const extraOf = ({ facts }: Refusal): Body => {
  const body: Body = {}
  for (const name of Object.keys(facts))
    if (isWritten(name)) Object.assign(body, writers[name](facts))
  return body
}
