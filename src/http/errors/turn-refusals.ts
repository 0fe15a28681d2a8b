import type { RefusalCode } from '../../domain/refusal-words.ts'

/** How a turn of one agent can be refused or fail. */
export const agentTurnRefusals = [
  'missing_required_field',
  'invalid_input',
  'unsupported_content',
  'invalid_content',
  'payload_too_large',
  'storage_quota_exceeded',
  'unsupported_media_type',
  'user_not_found',
  'delegation_not_allowed',
  'no_subscription',
  'invalid_plan',
  'insufficient_credits',
  'session_not_found',
  'agent_not_found',
  'agent_inactive',
  'session_busy',
  'turn_cancelled',
  'idempotency_key_reused',
  'orchestrator_error',
  'model_misconfigured',
  'context_length_exceeded',
  'run_limit_reached',
  'llm_service_unavailable',
  'llm_service_timeout',
] as const satisfies readonly RefusalCode[]

/** How a turn of chat completions or of responses can be refused or fail. */
export const turnRefusals = [
  ...agentTurnRefusals,
  'unsupported_parameter',
  'invalid_tool',
  'tool_name_taken',
  'invalid_tool_result',
  'too_complex',
  'invalid_model_output',
] as const satisfies readonly RefusalCode[]
