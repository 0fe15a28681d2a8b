import type { Usage } from '../../ports/model.ts'

/** Reports up to this many tokens are accepted without a count of our own. */
const alwaysPlausible = 10_000

/** Whether a provider's token counts are charged as they are, without a count of our own. */
export const isPlausible = (reported: Usage | null | undefined): reported is Usage =>
  !!reported &&
  reported.promptTokens <= alwaysPlausible &&
  reported.completionTokens <= alwaysPlausible

const plausible = (reported: number, counted: number): number =>
  reported <= 2 * counted + alwaysPlausible ? reported : counted

/** The charged token counts: the provider's, unless above twice our own count plus 10,000. */
export const countedUsage = async (
  reported: Usage | null | undefined,
  own: Promise<Usage>,
): Promise<Usage> => {
  const counted = await own
  if (!reported) return counted
  return {
    promptTokens: plausible(reported.promptTokens, counted.promptTokens),
    completionTokens: plausible(reported.completionTokens, counted.completionTokens),
  }
}
