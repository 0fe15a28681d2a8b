import type { ModelSettings } from '../ports/model.ts'
import type { AgentConfig } from './agent.ts'

/**
 * How an agent's model is to answer: what the caller set for the turn wins over the agent's own
 * settings, for every agent that works in it.
 */
export const settingsFor = (
  { temperature, maxTokens }: Pick<AgentConfig, 'temperature' | 'maxTokens'>,
  requested: ModelSettings = {},
): ModelSettings => {
  const own: ModelSettings = {}
  if (temperature !== null) own.temperature = temperature
  if (maxTokens !== null && requested.maxCompletionTokens === undefined) own.maxTokens = maxTokens
  return Object.assign(own, requested)
}

/** The most tokens of one answer. */
export const longestAnswer = ({
  maxTokens,
  maxCompletionTokens,
}: ModelSettings): number | undefined => maxCompletionTokens ?? maxTokens

/** The same settings, for an answer of so many tokens at most. */
export const shortened = <Settings extends ModelSettings>(
  settings: Settings,
  tokens: number,
): Settings =>
  settings.maxCompletionTokens === undefined
    ? { ...settings, maxTokens: tokens }
    : { ...settings, maxCompletionTokens: tokens }
