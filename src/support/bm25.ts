/** A document that shares a term with the query, and its score. */
export type Hit = { document: number; score: number }

const stopWords = new Set(
  'a about agent all am an and any are as assistant at be by can could do does for from had has have help he her him his how i if in into is it its just like me my need not of on or our please shall she should so some that the their them they this to up us want was we were what when where which who will with would you your'.split(
    ' ',
  ),
)
const words = /[\p{L}\p{N}]+/gu
const unspaced = /[\p{sc=Han}\p{sc=Hiragana}\p{sc=Katakana}\p{sc=Thai}]/u

const stemmed = (word: string): string => {
  if (word.length < 4 || word.endsWith('ss')) return word
  if (word.endsWith('ies')) return `${word.slice(0, -3)}y`
  const stem = word.replace(/(?:ing|ed|es|s)$/, '')
  return (stem.length < 3 ? word : stem).replace(/e$/, '')
}

/** Lower-case stems without stop words; in scripts without spaces, pairs of characters. */
export const termsOf = (text: string): string[] => {
  const terms: string[] = []
  for (const word of text.toLowerCase().match(words) ?? []) {
    if (!unspaced.test(word)) {
      if (!stopWords.has(word)) terms.push(stemmed(word))
      continue
    }
    const characters = [...word]
    for (let n = 0; n < Math.max(1, characters.length - 1); n++)
      terms.push(characters.slice(n, n + 2).join(''))
  }
  return terms
}

/** A document's number and how often it has the term, in one number. */
const countRange = 1_024
/** Lists shorter than this have no room to grow, as most are short. */
const exact = 8
/** Engines keep a long part of a text as a reference to the whole text. */
const referring = 13
/** The most different words of a query that count. */
const mostTerms = 64

const owned = (term: string): string =>
  term.length < referring ? term : Buffer.from(term).toString()

/** Okapi BM25 over texts, numbered in the order in which they were added. */
export const bm25 = (k1 = 1.2, b = 0.75) => {
  /** By term: the documents that have it; a term of one document has a number. */
  const postings = new Map<string, number | number[]>()
  const lengths: number[] = []
  let total = 0
  let entries = 0
  let characters = 0

  const post = (term: string, entry: number): void => {
    const list = postings.get(term)
    if (list === undefined) {
      characters += term.length
      postings.set(owned(term), entry)
      return
    }
    entries += typeof list === 'number' ? 2 + exact : 1
    if (typeof list === 'number') postings.set(term, [list, entry])
    else if (list.length < exact) postings.set(term, [...list, entry])
    else list.push(entry)
  }

  return {
    /** What it takes in memory, in bytes; not less. */
    get size(): number {
      return 130 * postings.size + 2 * characters + 12 * entries + 12 * lengths.length
    },
    add(text: string): number {
      const document = lengths.length
      const terms = termsOf(text)
      const counts = new Map<string, number>()
      for (const term of terms) counts.set(term, (counts.get(term) ?? 0) + 1)
      for (const [term, count] of counts)
        post(term, document * countRange + Math.min(count, countRange - 1))
      lengths.push(terms.length)
      total += terms.length
      return document
    },
    /** The best first; equal scores in the order of adding. The first 64 different words count. */
    search(query: string, limit: number): Hit[] {
      const scores = new Map<number, number>()
      const average = total / lengths.length
      for (const term of [...new Set(termsOf(query))].slice(0, mostTerms)) {
        const found = postings.get(term) ?? []
        const list = typeof found === 'number' ? [found] : found
        const rarity = Math.log(1 + (lengths.length - list.length + 0.5) / (list.length + 0.5))
        for (const entry of list) {
          const count = entry % countRange
          const document = (entry - count) / countRange
          const length = 1 - b + (b * (lengths[document] ?? 0)) / average
          const score = (rarity * count * (k1 + 1)) / (count + k1 * length)
          scores.set(document, (scores.get(document) ?? 0) + score)
        }
      }
      return [...scores]
        .map(([document, score]) => ({ document, score }))
        .sort((left, right) => right.score - left.score || left.document - right.document)
        .slice(0, limit)
    },
  }
}
