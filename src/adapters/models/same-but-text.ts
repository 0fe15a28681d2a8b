import { isPlain } from '../../support/plain-json.ts'

const before = '"content":"'
const probe = 'said'

/** So many forms are looked at: with some providers, chunks differ in more than their text. */
const mostForms = 3

/**
 * Most providers send chunks that differ in their text alone, which can then be read without parsing them.
 * So the beginning and the end of a chunk that was parsed are kept, and used once the next one had them
 * too, and another text between them was found by parsing. `said` parses: it gives the text of a line
 * that says nothing else.
 */
export const sameButText = (said: (line: string) => string | undefined) => {
  let head = ''
  let tail = ''
  let isKnown = false
  let forms = 0

  const between = (line: string): string | undefined => {
    if (line.length < head.length + tail.length) return undefined
    if (!line.startsWith(head) || !line.endsWith(tail)) return undefined
    const text = line.slice(head.length, line.length - tail.length)
    return isPlain(text) ? text : undefined
  }

  return {
    /** The text of a line; undefined: it has to be parsed. */
    textOf: (line: string): string | undefined => (isKnown ? between(line) : undefined),
    /** Told a line that was parsed, and its text. */
    learn(line: string, text: string): void {
      if (isKnown || forms > mostForms || text === '' || !isPlain(text)) return
      if (head !== '' && between(line) !== undefined) {
        isKnown = said(head + probe + tail) === probe
        if (isKnown) return
      }
      const at = line.indexOf(`${before}${text}"`)
      if (at < 0) return
      forms++
      head = line.slice(0, at + before.length)
      tail = line.slice(at + before.length + text.length)
    },
  }
}
