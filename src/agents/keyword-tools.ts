import type { ToolCall } from '../ports/model.ts'
import { loosePattern, phrasePattern } from './phrases.ts'

export type KeywordTable = Readonly<Record<string, readonly string[]>>

/**
 * Phrases in an answer that stand for a tool call (docs/contract/client-tools.md#keyword-tools).
 */
export const keywordPhrases: KeywordTable = {
  end_call: [
    'goodbye',
    'good bye',
    'good-bye',
    'bye',
    'farewell',
    'have a great day',
    'have a nice day',
    'see you later',
    'see you soon',
    'take care',
  ],
  transfer_call: [
    'human agent',
    'live agent',
    'human representative',
    'customer representative',
    'support representative',
    'real person',
    'human operator',
    'transfer you to a human',
    'connect you to a human',
    'connect you with a human',
    'speak to a human',
    'speak with a human',
    'talk to a human',
  ],
}

const none: readonly ToolCall[] = []

/** Names of tools that are called by words, never by a model of ours. */
export const keywordTools: readonly string[] = Object.keys(keywordPhrases)

/**
 * The tools that an answer calls by its words, in the table's order; with `offered`, only those of
 * these names.
 */
export const keywordCalls = (table: KeywordTable = keywordPhrases) => {
  const patterns = Object.entries(table).map(
    ([name, phrases]) => [name, phrasePattern(phrases)] as const,
  )
  const any = loosePattern(Object.values(table).flat())
  return (answer: string, id: () => string, offered?: readonly string[]): readonly ToolCall[] =>
    offered?.length !== 0 && any.test(answer)
      ? patterns
          .filter(([name, pattern]) => (offered?.includes(name) ?? true) && pattern.test(answer))
          .map(([name]) => ({ id: `call_${id().replaceAll('-', '')}`, name, arguments: '{}' }))
      : none
}
