/** Stands for half of a surrogate pair, which UTF-8 cannot encode. */
const replacement = '\ufffd'

/** An escape of half a pair. Well-formed text can hold one in no other way. */
const escapedHalf = /\\u[dD][89a-fA-F]/
/** A backslash and what it escapes: a pair, half of one, or any other character. */
const escapes =
  /\\(?:u[dD][89abAB][\da-fA-F]{2}\\u[dD][c-fC-F][\da-fA-F]{2}|u[dD][89a-fA-F][\da-fA-F]{2}|.)/gs
const lengthOfHalf = '\\ud800'.length

/** JSON in which halves of surrogate pairs are U+FFFD, escaped ones too. */
export const wellFormedJson = (json: string): string => {
  const text = json.toWellFormed()
  if (!escapedHalf.test(text)) return text
  return text.replace(escapes, (part) => (part.length === lengthOfHalf ? replacement : part))
}

/**
 * The same for a text that comes in pieces: a pair that two pieces divide is put together in the
 * second one.
 */
export const wellFormedPieces = () => {
  let held = ''
  return {
    /** The text that is complete so far. */
    next(piece: string): string {
      const text = held === '' ? piece : held + piece
      const last = text.charCodeAt(text.length - 1)
      if (last >= 0xd800 && last < 0xdc00) {
        held = text.slice(-1)
        return text.slice(0, -1).toWellFormed()
      }
      held = ''
      return text.toWellFormed()
    },
    /** The end of the text. */
    rest(): string {
      const text = held.toWellFormed()
      held = ''
      return text
    },
  }
}
