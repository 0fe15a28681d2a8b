import type { FinishReason } from '../../ports/model.ts'

/** `failed`: the provider did. `misformed`: the model wrote a call that cannot be read. */
type KnownEnding = FinishReason | 'failed' | 'misformed'

/** The words of providers, in lower case. */
const words: Readonly<Record<KnownEnding, readonly string[]>> = {
  stop: ['stop', 'stop_sequence', 'end_turn', 'eos', 'eos_token', 'end', 'complete', 'completed'],
  length: [
    'length',
    'max_tokens',
    'max_output_tokens',
    'max_completion_tokens',
    'model_length',
    'model_context_window_exceeded',
  ],
  tool_calls: ['tool_calls', 'tool_call', 'tool_use', 'function_call'],
  content_filter: [
    'content_filter',
    'content_filtered',
    'safety',
    'recitation',
    'blocklist',
    'prohibited_content',
    'spii',
    'image_safety',
    'model_armor',
    'guardrail_intervened',
    'refusal',
    'sensitive',
  ],
  failed: [
    'error',
    'insufficient_system_resource',
    'network_error',
    'internal_error',
    'server_error',
    'abort',
    'aborted',
    'cancelled',
    'timeout',
  ],
  misformed: ['malformed_function_call', 'function_call_filter', 'unexpected_tool_call'],
}

const endings: ReadonlyMap<string, KnownEnding> = new Map(
  Object.entries(words).flatMap(([ending, all]) =>
    all.map((word) => [word, ending as KnownEnding] as const),
  ),
)

/** How an answer ended. Some say more behind a colon: `content_filter: RECITATION`. */
export const endingOf = (reason: string): KnownEnding | 'unknown' => {
  const [word = ''] = reason.toLowerCase().split(':', 1)
  return endings.get(word.trim()) ?? 'unknown'
}
