/** What a word is written in, where it matters for its stem. */
export type Script = 'Latn' | 'Grek' | 'Cyrl' | 'Armn' | 'Hebr' | 'Arab' | 'Deva' | 'Taml'

export type Word = {
  /** In lower case and Unicode's form NFKC, without invisible characters. */
  text: string
  /** In the case that it is written in; absent in scripts without cases. */
  spelling?: string
  script?: Script | undefined
}

/** The start of each block of a script, in ascending order. */
const blocks: readonly (readonly [number, Script | undefined])[] = [
  [0x370, 'Grek'],
  [0x400, 'Cyrl'],
  [0x530, 'Armn'],
  [0x590, 'Hebr'],
  [0x600, 'Arab'],
  [0x700, undefined],
  [0x750, 'Arab'],
  [0x780, undefined],
  [0x8a0, 'Arab'],
  [0x900, 'Deva'],
  [0x980, undefined],
  [0xb80, 'Taml'],
  [0xc00, undefined],
  [0x1c80, 'Cyrl'],
  [0x1c90, undefined],
  [0x1e00, 'Latn'],
  [0x1f00, 'Grek'],
  [0x2000, undefined],
  [0x2c60, 'Latn'],
  [0x2c80, undefined],
  [0xa640, 'Cyrl'],
  [0xa6a0, undefined],
  [0xa720, 'Latn'],
  [0xa800, undefined],
]

const scriptOf = (word: string): Script | undefined => {
  const code = word.charCodeAt(0)
  return code < 0x370 ? 'Latn' : blocks.findLast(([start]) => start <= code)?.[1]
}

/** More marks on one letter than any script has are dropped: sorting them takes quadratic time. */
const manyMarks = /(\p{M}{16})\p{M}+/gu
/** Breaks of words: the zero width space and, in Arabic script, the zero width non-joiner. */
const breaks = /\u200b|(?<=\p{sc=Arab})\u200c/gu
/** Soft hyphens, joiners and the like; the tatweel; the vowel points of Arabic and Hebrew. */
const unseen =
  /[\p{Default_Ignorable_Code_Point}\u0640\u064b-\u0652\u0670\u0591-\u05bd\u05bf-\u05c7]/gu

/** Scripts whose words are found by characters and pairs of them: Korean words end in particles. */
const syllabic = String.raw`\p{sc=Han}\p{sc=Hiragana}\p{sc=Katakana}\p{sc=Hangul}ー`
/** Scripts without spaces between words, which the engine splits by its dictionaries. */
const joined = String.raw`\p{sc=Thai}\p{sc=Lao}\p{sc=Khmer}\p{sc=Myanmar}`
const runs = new RegExp(
  String.raw`([${syllabic}]+)|([${joined}][${joined}\p{M}]*)|[[\p{L}\p{N}]--[${syllabic}${joined}]][[\p{L}\p{N}\p{M}]--[${syllabic}${joined}]]*`,
  'gv',
)
const segmenter = new Intl.Segmenter('th', { granularity: 'word' })

/** UTF-16 units of a word that count. */
const longest = 64

const wordOf = (run: string): Word => {
  const spelling = run.slice(0, longest)
  const text = spelling.replaceAll('İ', 'i').toLowerCase()
  return { text, spelling, script: scriptOf(text) }
}

/** The characters of a run, and its pairs. */
const gramsOf = (run: string): Word[] => {
  const characters = [...run]
  return characters.flatMap((character, n) => {
    const pair = character + (characters[n + 1] ?? '')
    return pair === character ? [{ text: character }] : [{ text: character }, { text: pair }]
  })
}

/** The words of a text in order; of scripts without spaces, their characters and pairs of them. */
export const wordsIn = (text: string): Word[] => {
  const visible = text
    .replace(manyMarks, '$1')
    .replace(breaks, ' ')
    .replace(unseen, '')
    .normalize('NFKC')
  const words: Word[] = []
  for (const [run, syllables, dictionary] of visible.matchAll(runs)) {
    if (syllables) words.push(...gramsOf(syllables))
    else if (dictionary)
      for (const { segment } of segmenter.segment(dictionary)) words.push({ text: segment })
    else words.push(wordOf(run))
  }
  return words
}

/** Letters that Unicode does not take apart, and those that keyboards exchange. */
const likenesses: Readonly<Record<string, string>> = {
  ß: 'ss',
  æ: 'ae',
  œ: 'oe',
  þ: 'th',
  ø: 'o',
  ı: 'i',
  ł: 'l',
  đ: 'd',
  ð: 'd',
  ħ: 'h',
  ς: 'σ',
  ى: 'ي',
  ی: 'ي',
  ک: 'ك',
}
const alike = new RegExp(`[${Object.keys(likenesses).join('')}]`, 'g')
/** Of Latin, Greek, Cyrillic and Arabic letters; й and ў are letters of their own. */
const accents = /(?<![иу])\u0306|[\u0300-\u0305\u0307-\u036f\u0653-\u065f]/g
const beyondAscii = /[^\0-\x7f]/

/** A word without accents, as people type it who lack the keys. */
export const plain = (word: string): string =>
  beyondAscii.test(word)
    ? word
        .normalize('NFD')
        .replace(accents, '')
        .normalize('NFC')
        .replace(alike, (letter) => likenesses[letter] ?? letter)
    : word
