import type { Usage } from '../../ports/model.ts'

/** Reports up to this many tokens are accepted without a count of our own. */
const alwaysPlausible = 10_000

const isSmall = ({ promptTokens, completionTokens }: Usage): boolean =>
  promptTokens <= alwaysPlausible && completionTokens <= alwaysPlausible

const plausible = (reported: number, counted: number): number =>
  reported <= 2 * counted + alwaysPlausible ? reported : counted

/**
 * The charged token counts of a call: the provider's, unless above twice our own count plus 10,000.
 * Our own are computed only if the provider's are large or missing.
 */
export const plausibleUsage = (
  reported: Usage | undefined,
  count: () => Promise<Usage>,
): Usage | Promise<Usage> => {
  if (!reported) return count()
  if (isSmall(reported)) return reported
  return count().then((counted) => ({
    promptTokens: plausible(reported.promptTokens, counted.promptTokens),
    completionTokens: plausible(reported.completionTokens, counted.completionTokens),
  }))
}
