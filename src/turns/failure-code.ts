import type { RefusalCode } from '../domain/refusal-words.ts'
import { ModelFault, ModelTimeout, ModelUnavailable } from '../ports/model.ts'

const codes: Readonly<Record<string, RefusalCode>> = {
  ModelUnavailable: 'llm_service_unavailable',
  ModelTimeout: 'llm_service_timeout',
  TurnTimeout: 'llm_service_timeout',
  ModelMisconfigured: 'model_misconfigured',
  ModelOutputInvalid: 'invalid_model_output',
  ContextTooLong: 'context_length_exceeded',
  ToolNameTaken: 'tool_name_taken',
  EventMisfit: 'internal_error',
}

/** The code of the refusal for an agent that failed with an error of this name. */
export const failureCodeOf = (name: string): RefusalCode =>
  (Object.hasOwn(codes, name) ? codes[name] : undefined) ?? 'orchestrator_error'

/** The code of the refusal that a turn ends with when its agents failed with an error. */
export const failureCode = (error: unknown): RefusalCode =>
  failureCodeOf(error instanceof Error ? error.name : '')

/**
 * What a provider did, for the history; undefined for other errors. Model errors hold neither keys
 * nor the provider's words.
 */
export const causeOf = (error: unknown): string | undefined =>
  error instanceof ModelFault || error instanceof ModelUnavailable || error instanceof ModelTimeout
    ? error.message
    : undefined
