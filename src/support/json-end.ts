const quote = 0x22
const backslash = 0x5c

const isBlank = (code: number): boolean =>
  code === 0x20 || code === 0x0a || code === 0x0d || code === 0x09

const opens = (code: number): boolean => code === 0x7b || code === 0x5b
const closes = (code: number): boolean => code === 0x7d || code === 0x5d

/** Whether a text begins like a JSON object or array, after blanks. */
export const beginsValue = (text: string): boolean => {
  let at = 0
  while (isBlank(text.charCodeAt(at))) at++
  return opens(text.charCodeAt(at))
}

/**
 * Finds the end of a JSON object or array that comes in pieces: the length of the value's part in
 * the piece where it ends. Before that, and for a text that begins with neither, -1.
 */
export const jsonEnd = () => {
  let state: 'before' | 'inside' | 'over' = 'before'
  let depth = 0
  let inString = false
  let escaped = false
  const end = (piece: string): number => {
    for (let at = 0; at < piece.length && state !== 'over'; at++) {
      const code = piece.charCodeAt(at)
      if (state === 'before') {
        if (isBlank(code)) continue
        state = opens(code) ? 'inside' : 'over'
        depth = 1
      } else if (escaped) escaped = false
      else if (inString) {
        if (code === quote) inString = false
        else escaped = code === backslash
      } else if (code === quote) inString = true
      else if (opens(code)) depth++
      else if (closes(code) && --depth === 0) {
        state = 'over'
        return at + 1
      }
    }
    return -1
  }
  /** Whether a value has begun that has not ended. */
  return Object.assign(end, { isOpen: () => state === 'inside' })
}
