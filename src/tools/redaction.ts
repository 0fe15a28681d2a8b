import { longestAnswer, shown } from './results.ts'

export type Secret = { name: string; value: string }

/** The text, cut to `longest` characters, with each secret in it replaced by its name. */
export type Redact = (text: string, longest?: number) => string

/** A shorter secret occurs by chance: what contains it is withheld, not redacted. */
const shortest = 8

/** The forms in which an answer may repeat a value. */
const formsOf = (value: string): string[] => [
  value,
  encodeURIComponent(value),
  JSON.stringify(value).slice(1, -1),
]

/** For each length of a match, the length that still matches when the next character differs. */
const fallbacksOf = (form: string): Int32Array => {
  const fallbacks = new Int32Array(form.length + 1)
  for (let n = 1, length = 0; n < form.length; n++) {
    const code = form.charCodeAt(n)
    while (length > 0 && code !== form.charCodeAt(length)) length = fallbacks[length] ?? 0
    if (code === form.charCodeAt(length)) length++
    fallbacks[n + 1] = length
  }
  return fallbacks
}

/** Calls back with the start of each occurrence, also of overlapping ones, in linear time. */
const searchFor = (form: string) => {
  const fallbacks = fallbacksOf(form)
  return (text: string, found: (start: number) => void): void => {
    for (let n = 0, length = 0; n < text.length; n++) {
      const code = text.charCodeAt(n)
      while (length > 0 && code !== form.charCodeAt(length)) length = fallbacks[length] ?? 0
      if (code === form.charCodeAt(length)) length++
      if (length < form.length) continue
      found(n + 1 - length)
      length = fallbacks[length] ?? 0
    }
  }
}

const searchesOf = ({ name, value }: Secret) =>
  [...new Set(formsOf(value))].map((form) => ({
    name,
    length: form.length,
    short: value.length < shortest,
    search: searchFor(form),
  }))

/**
 * Removes secrets from texts that are shown, in one pass: a name that stands for a secret is not
 * searched again. Reads no more than is shown and one secret beyond, so that the cut divides none.
 */
export const redaction = (secrets: readonly Secret[]): Redact => {
  const searches = secrets.flatMap(searchesOf)
  const ahead = Math.max(0, ...searches.map(({ length }) => length))
  return (text, longest = longestAnswer) => {
    if (searches.length === 0) return shown(text, longest)
    const part = text.slice(0, longest + ahead)
    const ends = new Int32Array(part.length)
    const names: string[] = []
    let withheld: string | undefined
    for (const { name, length, short, search } of searches)
      search(part, (start) => {
        if (start >= longest) return
        if (short) withheld = name
        if (start + length <= (ends[start] ?? 0)) return
        ends[start] = start + length
        names[start] = name
      })
    if (withheld) return `[withheld: the text contains the credential ${withheld}]`
    let clean = ''
    let from = 0
    for (let start = 0; start < longest && clean.length < longest; start++) {
      let end = ends[start]
      if (!end) continue
      clean += `${part.slice(from, start)}[${names[start]}]`
      while (++start < end) end = Math.max(end, ends[start] ?? 0)
      from = end
      start = end - 1
    }
    clean += part.slice(from, Math.max(from, longest))
    return shown(clean, longest, text.length)
  }
}
