import { TurnTimeout } from '../agents/agent.ts'
import type { RefusalCode } from '../domain/refusal-words.ts'
import {
  ContextTooLong,
  ModelFault,
  ModelMisconfigured,
  ModelTimeout,
  ModelUnavailable,
} from '../ports/model.ts'

/** The code of the refusal that a turn ends with when its agents failed with an error. */
export const failureCode = (error: unknown): RefusalCode => {
  if (error instanceof ModelUnavailable) return 'llm_service_unavailable'
  if (error instanceof ModelTimeout || error instanceof TurnTimeout) return 'llm_service_timeout'
  if (error instanceof ModelMisconfigured) return 'model_misconfigured'
  if (error instanceof ContextTooLong) return 'context_length_exceeded'
  return 'orchestrator_error'
}

/**
 * What a provider did, for the history; undefined for other errors. Model errors hold neither keys nor
 * the provider's words.
 */
export const causeOf = (error: unknown): string | undefined =>
  error instanceof ModelFault || error instanceof ModelUnavailable || error instanceof ModelTimeout
    ? error.message
    : undefined
