import type { Finding } from './kinds.ts'
import { hasClause, hasOddWord } from './wording.ts'

/** Paragraphs and list items, cut into sentences: without code, tables, headings and addresses. */
const sentencesOf = (text: string): string[] =>
  text
    .replace(/```[\s\S]*?```/g, '\n\n')
    .replace(/^\s*[|#>].*$/gm, '\n')
    .replace(/\]\([^)]*\)/g, ']')
    .replace(/^\s*([-*]|\d+\.)\s+/gm, '\n\n')
    .split(/\n\s*\n/)
    .flatMap((paragraph) => paragraph.replace(/\s+/g, ' ').split(/(?<=[.!?:;])\s+(?=[A-Z`[*])/))
    .filter((sentence) => /[a-z]{3}/.test(sentence))

const wordsIn = (text: string): number => text.split(/\s+/).filter(Boolean).length

/** Pages to look things up in, whose length is no burden. */
const lookUp = /CHANGELOG|reference|find-it|api-coverage|^bench\//

/** What a Markdown page has that readers stumble over. */
export const pageFindings = (page: string, text: string): Finding[] => {
  const findings = sentencesOf(text).flatMap((sentence): Finding[] => {
    const place = `${page}: ${sentence.slice(0, 100)}`
    const words = wordsIn(sentence)
    return [
      ...(words > 30
        ? [{ kind: 'sentences over 30 words', place: `${place} (${words})` } as const]
        : []),
      ...(hasClause(sentence) ? [{ kind: 'clauses in place of a noun', place } as const] : []),
      ...(hasOddWord(sentence)
        ? [{ kind: "words of no field's documentation", place } as const]
        : []),
    ]
  })
  const words = wordsIn(text)
  const place = `${page} (${words})`
  if (page.startsWith('docs/decisions/'))
    return words > 500 ? [...findings, { kind: 'decisions over 500 words', place }] : findings
  const isLong = words > 1_500 && !lookUp.test(page)
  return isLong ? [...findings, { kind: 'pages over 1,500 words', place }] : findings
}
