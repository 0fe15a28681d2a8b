const graphemes = new Intl.Segmenter('en', { granularity: 'grapheme' })

/** Characters before and behind a cut that are looked at; a longer cluster may be cut. */
const reach = 256
const ahead = 8
/** Characters of a row of flags, of which each is two regional indicators of two characters. */
const mostFlags = 8_192

/** Below the first combining mark, every character but a line feed begins a cluster. */
const firstMark = 0x300
const lineFeed = 0x0a

const isLow = (code: number): boolean => code >= 0xdc00 && code < 0xe000
const isHigh = (code: number): boolean => code >= 0xd800 && code < 0xdc00

/** A place that is not inside a surrogate pair, at `at` or one before. */
const betweenPairs = (text: string, at: number): number =>
  isLow(text.charCodeAt(at)) && isHigh(text.charCodeAt(at - 1)) ? at - 1 : at

/** Whether the character before a place is a regional indicator. */
const isFlagHalf = (text: string, at: number): boolean => {
  const code = text.codePointAt(at - 2) ?? 0
  return at >= 2 && code >= 0x1f1e6 && code <= 0x1f1ff
}

/** Where the window before a cut begins: not inside a flag. */
const windowStart = (text: string, at: number): number => {
  const start = betweenPairs(text, Math.max(0, at - reach))
  let first = start
  while (start - first < mostFlags && isFlagHalf(text, first)) first -= 2
  // Flags are pairs of indicators, four characters.
  return (start - first) % 4 === 0 ? start : start - 2
}

/**
 * The last place at or before `at` that is between two grapheme clusters (UAX #29), whatever the
 * text's length. A cluster that is too long for the window is cut between two code points.
 */
export const cutPlace = (text: string, at: number): number => {
  if (at <= 0) return 0
  if (at >= text.length) return text.length
  const next = text.charCodeAt(at)
  if (next < firstMark && next !== lineFeed && text.charCodeAt(at - 1) < firstMark) return at
  const start = windowStart(text, at)
  const window = text.slice(start, at + ahead)
  const cluster = graphemes.segment(window).containing(at - start)?.index ?? 0
  return cluster > 0 ? start + cluster : betweenPairs(text, at)
}

/** The longest beginning of a text that has at most so many characters and cuts no cluster. */
export const cutText = (text: string, most: number): string =>
  text.length <= most ? text : text.slice(0, cutPlace(text, most))

/** The same, and `…` where something was cut off; it counts too. */
export const shortText = (text: string, most: number): string =>
  text.length <= most ? text : `${cutText(text, most - 1)}…`
