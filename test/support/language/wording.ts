const clause =
  /(^|[,:;] )[Ww]hat (?!is (this|that|new)\b)[^?.]{3,80} (is|are|goes|has|stays|comes|waits|does|was|gets)\b(?![^.]*\?)/
const clauseWords = /\b(who is asked|what of it|be it|of which there)\b/
const oddWords =
  /\b(mend(s|ed|ing)?|tells of|told (again|as|by|of)|is told by|are told by|bygone|thereof|reckon(s|ed)?|whatever becomes|go(es)? on with|gone on with|asks after)\b/i

/** A clause that stands for a noun, such as a sentence that begins with "What waits is". */
export const hasClause = (text: string): boolean => clause.test(text) || clauseWords.test(text)

/** Words that the documentation of databases and HTTP APIs does not use. */
export const hasOddWord = (text: string): boolean => oddWords.test(text)

const situations = new Set(
  `found told shown made begun kept asked answered ended taken said gone away written drawn one whole
   another much asking telling showing keeping making begins begin tells tell shows keeps asks gives ends waits`.split(
    /\s+/,
  ),
)
/** First words of names that are verbs in the imperative, or parts of a longer noun. */
const verbs = new Set(
  'begin begins tell tells show shows keeps asks gives ends waits one whole another much asking written'.split(
    ' ',
  ),
)

/** Whether a name is a participle or pronoun by itself, begins with one, or neither. */
export const situationIn = (name: string): 'whole' | 'beginning' | undefined => {
  const [first = '', ...rest] = name.split(/(?=[A-Z])/)
  if (!situations.has(first.toLowerCase())) return undefined
  if (rest.length === 0) return 'whole'
  return verbs.has(first.toLowerCase()) ? undefined : 'beginning'
}
