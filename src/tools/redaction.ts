import { cutPlace } from '../support/cut-text.ts'
import { canonical, canonicalForms, codesOf } from './canonical-text.ts'
import { longestAnswer, resultText } from './results.ts'

export type Secret = { name: string; value: string }

/** The text, cut to `longest` characters, with each secret in it replaced by its name. */
export type Redact = (text: string, longest?: number) => string

/** A shorter secret occurs by chance: text that contains it is withheld, not redacted. */
const shortest = 8
/** This many characters of a secret in front of a cut are redacted like the secret. */
const shortestBeginning = 4

/** For each length of a match, the length that still matches when the next character differs. */
const fallbacksOf = (form: Uint16Array): Int32Array => {
  const fallbacks = new Int32Array(form.length + 1)
  for (let n = 1, length = 0; n < form.length; n++) {
    while (length > 0 && form[n] !== form[length]) length = fallbacks[length] ?? 0
    if (form[n] === form[length]) length++
    fallbacks[n + 1] = length
  }
  return fallbacks
}

/** Calls back with start and end of an occurrence. */
type OnOccurrence = (start: number, end: number) => void

/**
 * Calls back for each occurrence, also of overlapping ones, in linear time. Where the text was cut
 * (`isPart`), its end may be the beginning of an occurrence.
 */
const searchFor = (form: Uint16Array) => {
  const fallbacks = fallbacksOf(form)
  return (text: Uint16Array, isPart: boolean, onOccurrence: OnOccurrence): void => {
    let length = 0
    for (let n = 0; n < text.length; n++) {
      const code = text[n]
      while (length > 0 && code !== form[length]) length = fallbacks[length] ?? 0
      if (code === form[length]) length++
      if (length < form.length) continue
      onOccurrence(n + 1 - length, n + 1)
      length = fallbacks[length] ?? 0
    }
    if (isPart && length >= shortestBeginning) onOccurrence(text.length - length, text.length)
  }
}

/**
 * How each secret is looked for: as it is, and in the encodings that a canonical text has removed.
 */
const searchesOf = ({ name, value }: Secret) => ({
  name,
  length: value.length,
  isShort: value.length < shortest,
  plain: searchFor(codesOf(value)),
  encoded: canonicalForms(value).map(searchFor),
})

/** The longest encoding of a character, such as `&#x00000041;`. */
const longestEscape = 12
/** An escape that the cut divides would hide the beginning of a secret before it. */
const cutEscape = /(?:%[\da-f]?|\\(?:u[\da-f]{0,3}|x[\da-f]?)?|&[#\w]{0,9})$/i

/** Where secrets are in a text: of each start, how far they reach and the name of the longest. */
type Places = { endOffsets: Int32Array; names: readonly string[]; withheld: string | undefined }

const placesIn = (
  part: string,
  isPart: boolean,
  longest: number,
  searches: readonly ReturnType<typeof searchesOf>[],
): Places => {
  const endOffsets = new Int32Array(part.length)
  const names: string[] = []
  let withheld: string | undefined
  const codes = codesOf(part)
  const bare = canonical(isPart ? part.replace(cutEscape, '') : part)
  for (const { name, isShort, plain, encoded } of searches) {
    const mark: OnOccurrence = (start, end) => {
      if (start >= longest) return
      if (isShort) withheld = name
      if (end <= (endOffsets[start] ?? 0)) return
      endOffsets[start] = end
      names[start] = name
    }
    plain(codes, isPart, mark)
    for (const search of encoded)
      search(bare.codes, isPart, (start, end) =>
        mark(bare.startOffsets[start] ?? 0, bare.endOffsets[end - 1] ?? 0),
      )
  }
  return { endOffsets, names, withheld }
}

/**
 * Removes secrets from texts that are shown, also where they are encoded, in one pass: a name that
 * stands for a secret is not searched again. Reads no more than is shown and one encoded secret
 * beyond, so that the cut divides none.
 */
export const redaction = (secrets: readonly Secret[]): Redact => {
  const searches = secrets.map(searchesOf)
  const ahead = longestEscape * Math.max(0, ...searches.map(({ length }) => length))
  return (text, longest = longestAnswer) => {
    if (searches.length === 0) return resultText(text, longest)
    const part = text.slice(0, longest + ahead)
    const { endOffsets, names, withheld } = placesIn(
      part,
      part.length < text.length,
      longest,
      searches,
    )
    if (withheld) return `[withheld: the text contains the credential ${withheld}]`
    let clean = ''
    let from = 0
    for (let start = 0; start < longest && clean.length < longest; start++) {
      let end = endOffsets[start]
      if (!end) continue
      clean += `${part.slice(from, start)}[${names[start]}]`
      while (++start < end) end = Math.max(end, endOffsets[start] ?? 0)
      from = end
      start = end - 1
    }
    clean += part.slice(from, Math.max(from, cutPlace(part, longest)))
    return resultText(clean, longest, text.length)
  }
}
