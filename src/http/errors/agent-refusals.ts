import type { RefusalCode } from '../../domain/refusal-words.ts'

/** How an agent's settings can be refused. */
export const unfitAgent = [
  'invalid_input',
  'invalid_tool',
  'unknown_model',
  'unknown_sub_agent',
  'agent_cycle',
  'agent_depth',
  'agent_name_taken',
] as const satisfies readonly RefusalCode[]
