type Weight = { exactness: number; q: number }

const none: Weight = { exactness: 0, q: 0 }

/** Bounds on the ranges read, and on the parts of each: a header of 16 KB may have thousands. */
const mostRanges = 64
const mostParts = 16

/** How exactly a media range names a type; 0: not at all. */
const exactnessOf = (range: string, type: string): number => {
  if (range === type) return 3
  if (range === `${type.slice(0, type.indexOf('/'))}/*`) return 2
  return range === '*/*' || range === '*' ? 1 : 0
}

const qOf = (parameters: readonly string[]): number => {
  const q = Number(
    parameters.find((parameter) => parameter.startsWith('q='))?.slice('q='.length) ?? 1,
  )
  return Number.isNaN(q) ? 1 : q
}

/** The weight of a type in an `Accept` header: the most exact range wins (RFC 9110, 12.5.1). */
const weightOf = (accept: string, type: string): Weight => {
  let best = none
  for (const part of accept.toLowerCase().split(',', mostRanges)) {
    const [range = '', ...parameters] = part.split(';', mostParts).map((piece) => piece.trim())
    const exactness = exactnessOf(range, type)
    if (exactness > best.exactness) best = { exactness, q: qOf(parameters) }
  }
  return best
}

/** Whether an `Accept` header admits a media type. */
export const admits = (accept: string, type: string): boolean => weightOf(accept, type).q > 0

/** Whether an `Accept` header names a media type and wants it no less than any of the others. */
export const prefers = (
  accept: string | undefined,
  type: string,
  ...others: readonly string[]
): boolean => {
  if (!accept) return false
  const { exactness, q } = weightOf(accept, type)
  return exactness === 3 && q > 0 && others.every((other) => q >= weightOf(accept, other).q)
}
