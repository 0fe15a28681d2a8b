const quote = 0x22
const backslash = 0x5c

/** The place of the quote that ends a string; the text's length when there is none. */
export const endOfString = (text: string, start: number): number => {
  const end = text.indexOf('"', start + 1)
  if (end === -1) return text.length
  if (text.charCodeAt(end - 1) !== backslash) return end
  for (let n = start + 1; n < text.length; n++) {
    const code = text.charCodeAt(n)
    if (code === backslash) n++
    else if (code === quote) return n
  }
  return text.length
}

/**
 * Whether the JSON in a text has more levels or values than allowed. Looks only at the text, so
 * that nothing is built of what is refused.
 */
export const isTooComplex = (text: string, most: { depth: number; nodes: number }): boolean => {
  let depth = 0
  let nodes = 1
  for (let n = 0; n < text.length; n++) {
    const code = text.charCodeAt(n)
    if (code === quote) n = endOfString(text, n)
    else if (code === 0x2c) nodes++
    else if (code === 0x5b || code === 0x7b) {
      nodes++
      if (++depth > most.depth) return true
    } else if (code === 0x5d || code === 0x7d) depth--
    if (nodes > most.nodes) return true
  }
  return false
}

/**
 * The same for bytes that come in parts, also for the JSON in an event stream: tells whether there
 * is more than allowed so far. No string of JSON holds a line break, so each line begins outside of
 * one.
 */
export const jsonCounter = (most: { depth: number; nodes: number }) => {
  let depth = 0
  let nodes = 1
  let inside = false
  let escaped = false
  return (bytes: Uint8Array): boolean => {
    for (const code of bytes) {
      if (escaped) escaped = false
      else if (code === 0x0a || code === 0x0d) inside = false
      else if (code === quote) inside = !inside
      else if (inside) escaped = code === backslash
      else if (code === 0x2c) nodes++
      else if (code === 0x5b || code === 0x7b) {
        nodes++
        depth++
      } else if (code === 0x5d || code === 0x7d) depth = Math.max(0, depth - 1)
      if (depth > most.depth || nodes > most.nodes) return true
    }
    return false
  }
}

/** An escape of a surrogate. Well-formed UTF-8 can hold one in no other way. */
const escapedSurrogate = /\\u[dD][89a-fA-F]/
/** An escape of a printable character of ASCII. */
const escapedAscii = /\\u00[2-7]/

const isWhole = (text: string): boolean => text.isWellFormed()

/** Whether a value, or one inside it, passes. Never recurses. */
const someInside = (value: unknown, passes: (inner: unknown) => boolean): boolean => {
  const waiting: unknown[] = [value]
  while (waiting.length > 0) {
    const current = waiting.pop()
    if (passes(current)) return true
    if (typeof current === 'object' && current !== null)
      for (const inner of Object.values(current)) waiting.push(inner)
  }
  return false
}

/**
 * Whether a string of a parsed value, or a name in it, has half of a surrogate pair. Looks into
 * the value only when its text can have one.
 */
export const hasLoneSurrogate = (text: string, value: unknown): boolean =>
  escapedSurrogate.test(text) &&
  someInside(value, (inner) => {
    if (typeof inner === 'string') return !isWhole(inner)
    return typeof inner === 'object' && inner !== null && !Object.keys(inner).every(isWhole)
  })

/**
 * Whether a property anywhere in a parsed value has this name (printable ASCII). Looks into the
 * value only when its text can have one.
 */
export const hasName = (text: string, value: unknown, name: string): boolean =>
  (text.includes(name) || escapedAscii.test(text)) &&
  someInside(
    value,
    (inner) => typeof inner === 'object' && inner !== null && Object.hasOwn(inner, name),
  )
