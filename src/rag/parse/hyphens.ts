/** Each word that was joined or divided, and the form that the text no longer shows. */
export type Variants = ReadonlyMap<string, string>

const word = String.raw`\p{L}[\p{L}\p{M}]*`
/** Where a word begins: looking from elsewhere would take time that grows with its square. */
const wordStart = String.raw`(?<![\p{L}\p{M}\-\u2010])`
const compound = new RegExp(String.raw`${wordStart}${word}(?:[\-\u2010]${word})+`, 'gu')
const divided = new RegExp(
  String.raw`${wordStart}(${word}(?:[\-\u2010]${word})*)([\-\u2010\u00ad])\n[^\S\n]*(?=(${word}(?:[\-\u2010]${word})*))`,
  'gu',
)

/** Whether two halves are one word: "infor-" and "mation", not "e-" and "mail". */
const isWord = (left: string, right: string): boolean => {
  if (left.length < 2 || right.length < 2 || /[-\u2010]/.test(left + right)) return false
  return (
    (/\p{Ll}$/u.test(left) && /^\p{Ll}/u.test(right)) ||
    /^\p{Lu}+\n\p{Lu}+$/u.test(`${left}\n${right}`)
  )
}

/**
 * Takes the pages of a document in order, and joins words that a hyphen divides at a line's end. A
 * compound keeps its hyphen where the document has it within a line so far.
 */
export const hyphenJoiner = () => {
  const compounds = new Set<string>()

  return (source: string): { text: string; variants: Variants } => {
    const page = source.normalize('NFC')
    for (const [word] of page.matchAll(compound)) compounds.add(word.toLowerCase())
    const variants = new Map<string, string>()
    const text = page.replace(divided, (_, left: string, hyphen: string, right: string) => {
      const joined = `${left}${right}`
      const hyphenated = `${left}-${right}`
      const joins =
        hyphen === '\u00ad' || (isWord(left, right) && !compounds.has(hyphenated.toLowerCase()))
      variants.set(joins ? joined : hyphenated, joins ? hyphenated : joined)
      return joins ? left : `${left}-`
    })
    return { text, variants }
  }
}
