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

/** Okapi BM25 over texts, numbered in the order in which they were added. */
export const bm25 = (k1 = 1.2, b = 0.75) => {
  const postings = new Map<string, { documents: number[]; counts: number[] }>()
  const lengths: number[] = []
  let total = 0
  let entries = 0
  return {
    /** Roughly what it takes in memory, in bytes. */
    get size(): number {
      return 16 * entries + 120 * postings.size + 8 * lengths.length
    },
    add(text: string): number {
      const document = lengths.length
      const terms = termsOf(text)
      for (const term of terms) {
        const list = postings.get(term) ?? { documents: [], counts: [] }
        if (list.documents.length === 0) postings.set(term, list)
        const last = list.documents.length - 1
        if (list.documents[last] === document) list.counts[last] = (list.counts[last] ?? 0) + 1
        else {
          list.documents.push(document)
          list.counts.push(1)
          entries++
        }
      }
      lengths.push(terms.length)
      total += terms.length
      return document
    },
    /** The best first; equal scores in the order of adding. */
    search(query: string, limit: number): Hit[] {
      const scores = new Map<number, number>()
      const average = total / lengths.length
      for (const term of new Set(termsOf(query))) {
        const { documents, counts } = postings.get(term) ?? { documents: [], counts: [] }
        const rarity = Math.log(
          1 + (lengths.length - documents.length + 0.5) / (documents.length + 0.5),
        )
        documents.forEach((document, n) => {
          const count = counts[n] ?? 0
          const length = 1 - b + (b * (lengths[document] ?? 0)) / average
          const score = (rarity * count * (k1 + 1)) / (count + k1 * length)
          scores.set(document, (scores.get(document) ?? 0) + score)
        })
      }
      return [...scores]
        .map(([document, score]) => ({ document, score }))
        .sort((left, right) => right.score - left.score || left.document - right.document)
        .slice(0, limit)
    },
  }
}
