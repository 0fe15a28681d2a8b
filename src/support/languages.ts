import { createStemmer, Languages } from 'multilingual-stemmer'
import { type Language, languagesWith } from './stop-words.ts'
import { plain, type Script, type Word } from './words.ts'

/** The language of a text, or of most texts, by script. */
export type Spoken = Partial<Record<Script, Language>>

const usual: Spoken = {
  Latn: 'en',
  Grek: 'el',
  Cyrl: 'ru',
  Armn: 'hy',
  Arab: 'ar',
  Deva: 'hi',
  Taml: 'ta',
}

/** How many function words a text has at least, and their least share of all its words. */
const fewest = 2
const leastShare = 0.05

/** The language of a text by script: its function words tell it, otherwise it is the known one. */
export const spokenIn = (words: readonly Word[], known: Spoken = {}): Spoken => {
  const totals = new Map<Script, number>()
  const counts = new Map<Script, Map<Language, number>>()
  for (const { text, script } of words) {
    if (!script) continue
    totals.set(script, (totals.get(script) ?? 0) + 1)
    const of = counts.get(script) ?? new Map<Language, number>()
    counts.set(script, of)
    // Single letters are initials and symbols in many languages.
    if (text.length === 1) continue
    for (const language of languagesWith(text)) of.set(language, (of.get(language) ?? 0) + 1)
  }
  const spoken = { ...usual, ...known }
  for (const [script, of] of counts) {
    const [best, second] = [...of].sort(([, left], [, right]) => right - left)
    const least = Math.max(fewest, leastShare * (totals.get(script) ?? 0))
    if (best && best[1] >= least && best[1] > (second?.[1] ?? 0)) spoken[script] = best[0]
  }
  return spoken
}

const stemmers: Partial<Record<Language, (word: string) => string>> = {
  ar: createStemmer(Languages.Arabic),
  ca: createStemmer(Languages.Catalan),
  cs: createStemmer(Languages.Czech),
  da: createStemmer(Languages.Danish),
  de: createStemmer(Languages.German),
  el: createStemmer(Languages.Greek),
  en: createStemmer(Languages.English),
  eo: createStemmer(Languages.Esperanto),
  es: createStemmer(Languages.Spanish),
  et: createStemmer(Languages.Estonian),
  eu: createStemmer(Languages.Basque),
  fa: createStemmer(Languages.Persian),
  fi: createStemmer(Languages.Finnish),
  fr: createStemmer(Languages.French),
  ga: createStemmer(Languages.Irish),
  hi: createStemmer(Languages.Hindi),
  hu: createStemmer(Languages.Hungarian),
  hy: createStemmer(Languages.Armenian),
  id: createStemmer(Languages.Indonesian),
  it: createStemmer(Languages.Italian),
  lt: createStemmer(Languages.Lithuanian),
  ne: createStemmer(Languages.Nepali),
  nl: createStemmer(Languages.Dutch),
  no: createStemmer(Languages.Norwegian),
  pl: createStemmer(Languages.Polish),
  pt: createStemmer(Languages.Portuguese),
  ro: createStemmer(Languages.Romanian),
  ru: createStemmer(Languages.Russian),
  sr: createStemmer(Languages.Serbian),
  st: createStemmer(Languages.Sesotho),
  sv: createStemmer(Languages.Swedish),
  ta: createStemmer(Languages.Tamil),
  tr: createStemmer(Languages.Turkish),
  yi: createStemmer(Languages.Yiddish),
}

/** The stem of a word in lower case; the word itself if its language has no stemmer. */
export const stemOf = (word: string, language: Language | undefined): string =>
  (language && stemmers[language]?.(word)) ?? word

/** Stems of the latest words by language; all are forgotten when there are too many. */
const latest = new Map<Language | undefined, Map<string, readonly string[]>>()
const mostLatest = 20_000
let latestCount = 0

/** The stems of a word in lower case: as it is, and without accents if it has any. */
export const stemsOf = (word: string, language: Language | undefined): readonly string[] => {
  const before = latest.get(language)?.get(word)
  if (before) return before
  if (latestCount === mostLatest) {
    latest.clear()
    latestCount = 0
  }
  const stems = [...new Set([word, plain(word)].map((form) => stemOf(form, language)))]
  latest.set(language, (latest.get(language) ?? new Map()).set(word, stems))
  latestCount++
  return stems
}
