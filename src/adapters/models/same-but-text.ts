import { isPlain } from '../../support/plain-json.ts'

const before = '"content":"'
const probe = 'said'

/** So many forms are looked at: with some providers, chunks differ in more than their text. */
const mostForms = 3

/**
 * Most providers send chunks that differ in their text alone, which can then be read without parsing them.
 * So the beginning and the end of a chunk that was parsed are kept. They are used from the next chunk on that has
 * them too, once a probe between them was parsed: what JSON has there is then the text, whatever it is. `said` parses:
 * it gives the text of a line that says nothing else.
 */
export const sameButText = (said: (line: string) => string | undefined) => {
  let head = ''
  let tail = ''
  let isKnown = false
  let forms = 0

  const between = (line: string): string | undefined => {
    const end = line.length - tail.length
    // Compared as a whole: startsWith goes character by character.
    if (
      head === '' ||
      end < head.length ||
      line.slice(0, head.length) !== head ||
      line.slice(end) !== tail
    )
      return undefined
    const text = line.slice(head.length, end)
    return isPlain(text) ? text : undefined
  }

  return {
    /** The text of a line; undefined: it has to be parsed. */
    textOf(line: string): string | undefined {
      const text = between(line)
      if (text === undefined || isKnown) return text
      isKnown = said(head + probe + tail) === probe
      if (isKnown) return text
      head = ''
      return undefined
    },
    /** Told a line that was parsed, and its text. */
    learn(line: string, text: string): void {
      if (isKnown || forms > mostForms) return
      // A text that is the probe's would prove nothing.
      if (text === '' || text === probe || !isPlain(text)) return
      const at = line.indexOf(`${before}${text}"`)
      if (at < 0) return
      forms++
      head = line.slice(0, at + before.length)
      tail = line.slice(at + before.length + text.length)
    },
  }
}
