import { type Spoken, spokenIn, stemsOf } from './languages.ts'
import { numberLists } from './number-lists.ts'
import { type Language, languagesWith } from './stop-words.ts'
import { type Script, type Word, wordsIn } from './words.ts'

/** A document that shares a word with the query, and its score. */
export type Hit = { document: number; score: number }

/** Whether a function word is written as an abbreviation: IT, US, WHO. */
const isAbbreviation = ({ text, spelling = text }: Word): boolean =>
  spelling.length > 1 && spelling !== text && spelling === spelling.toUpperCase()

const stemsInAll = (text: string, languages: readonly (Language | undefined)[]): string[] => [
  ...new Set(languages.flatMap((language) => stemsOf(text, language))),
]

/**
 * The terms by which a word is found: its stems in these languages, and an abbreviation as it is
 * written. Two words match if they share a term.
 */
const termsOf = (word: Word, languages: readonly (Language | undefined)[]): readonly string[] => {
  const { text, spelling, script } = word
  if (!script) return [text]
  const [first] = languages
  const stems = languages.length === 1 ? stemsOf(text, first) : stemsInAll(text, languages)
  const isAlso = spelling && isAbbreviation(word) && languagesWith(text).length > 0
  return isAlso ? [...stems, spelling] : stems
}

/** All words but the function words of their language. */
const contentOf = (words: readonly Word[], spoken: Spoken): Word[] =>
  words.filter((word) => {
    const language = word.script && spoken[word.script]
    return !language || isAbbreviation(word) || !languagesWith(word.text).includes(language)
  })

/** Whether a text has more than function words. */
export const hasContent = (text: string): boolean => {
  const words = wordsIn(text)
  return contentOf(words, spokenIn(words)).length > 0
}

/** The language of a text for each script. */
export const languagesOf = (text: string): Spoken => spokenIn(wordsIn(text))

/** A document's number and how often it has the term, in one number. */
const countRange = 1_024
/** The most different words of a query that count, and the characters in which they are sought. */
const mostWords = 64
const longestQuery = 10_000

/**
 * Okapi BM25 over texts, numbered in the order in which they were added. Texts and queries are
 * compared by stems; a query is in the languages of the texts.
 */
export const bm25 = (k1 = 1.2, b = 0.75) => {
  /** By term: the documents that have it, and how often. */
  const postings = numberLists()
  const lengths: number[] = []
  /** How many texts are in each language, by script. */
  const spoken = new Map<Script, Map<Language | undefined, number>>()
  let total = 0

  /** The language of most texts, by script. */
  const mostSpoken = (): Spoken => {
    const most: Spoken = {}
    for (const [script, counts] of spoken) {
      const [first] = [...counts].sort(([, left], [, right]) => right - left)
      if (first?.[0]) most[script] = first[0]
    }
    return most
  }

  const speak = (script: Script, language: Language | undefined): void => {
    const counts = spoken.get(script) ?? new Map<Language | undefined, number>()
    spoken.set(script, counts.set(language, (counts.get(language) ?? 0) + 1))
  }

  /** Adds a text by its words, of these languages. */
  const addWords = (words: readonly Word[], languages: Spoken): number => {
    const document = lengths.length
    const counts = new Map<string, number>()
    const scripts = new Set<Script>()
    for (const word of words) {
      if (word.script) scripts.add(word.script)
      for (const term of termsOf(word, [word.script && languages[word.script]]))
        counts.set(term, (counts.get(term) ?? 0) + 1)
    }
    for (const [term, count] of counts)
      postings.add(term, document * countRange + Math.min(count, countRange - 1))
    for (const script of scripts) speak(script, languages[script])
    lengths.push(words.length)
    total += words.length
    return document
  }

  /** Adds to the score of each document that of the best of these terms. */
  const score = (terms: readonly string[], scores: Float64Array, best: Float64Array): void => {
    const average = total / lengths.length
    const lists = terms.map(postings.get)
    for (const list of lists) {
      const rarity = Math.log(1 + (lengths.length - list.length + 0.5) / (list.length + 0.5))
      for (let n = 0; n < list.length; n++) {
        const entry = list[n] ?? 0
        const count = entry % countRange
        const document = (entry - count) / countRange
        const length = 1 - b + (b * (lengths[document] ?? 0)) / average
        const points = (rarity * count * (k1 + 1)) / (count + k1 * length)
        if (points > (best[document] ?? 0)) best[document] = points
      }
    }
    for (const list of lists)
      for (let n = 0; n < list.length; n++) {
        const document = Math.floor((list[n] ?? 0) / countRange)
        scores[document] = (scores[document] ?? 0) + (best[document] ?? 0)
        best[document] = 0
      }
  }

  /** The different words of a query, each with its terms; function words if it has no others. */
  const wordsOf = (query: string): (readonly string[])[] => {
    const words = wordsIn(query.slice(0, longestQuery))
    const content = contentOf(words, spokenIn(words, mostSpoken()))
    const different = new Map<string, readonly string[]>()
    for (const word of content.length > 0 ? content : words) {
      const languages = (word.script && spoken.get(word.script)?.keys()) ?? [undefined]
      const terms = termsOf(word, [...languages])
      different.set(terms.join(' '), terms)
      if (different.size === mostWords) break
    }
    return [...different.values()]
  }

  return {
    /** What it takes in memory, in bytes; not less. */
    get size(): number {
      return postings.size + 12 * lengths.length
    },
    mostSpoken,
    addWords,
    /** `languages` are those of the text; otherwise its words tell them. */
    add(text: string, languages?: Spoken): number {
      const words = wordsIn(text)
      return addWords(words, languages ?? spokenIn(words, mostSpoken()))
    },
    /**
     * The best first, of those that are kept; equal scores in the order of adding. The first 64
     * different words of a query count.
     */
    search(query: string, limit: number, isKept = (_document: number) => true): Hit[] {
      const scores = new Float64Array(lengths.length)
      const best = new Float64Array(lengths.length)
      for (const terms of wordsOf(query)) score(terms, scores, best)
      const hits: Hit[] = []
      for (const [document, score] of scores.entries())
        if (score > 0 && isKept(document)) hits.push({ document, score })
      return hits
        .sort((left, right) => right.score - left.score || left.document - right.document)
        .slice(0, limit)
    },
  }
}
