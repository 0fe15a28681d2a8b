import { decodeHTMLStrict } from 'entities'
import { lexer, type Token, type Tokens } from 'marked'
import type { Block } from '../block.ts'
import { decodedText } from '../decode-text.ts'

const tags = /<[^<>]*>/g
/** Elements that are part of a word or sentence; all others separate words. */
const inWords = new Set(
  'a abbr b bdi bdo cite code del dfn em font i ins kbd mark q s samp small span strong sub sup u var wbr'.split(
    ' ',
  ),
)

const tagText = (tag: string): string => {
  const [, name = ''] = /^<\/?([a-z]+)/i.exec(tag) ?? []
  return tag.startsWith('<!--') || inWords.has(name.toLowerCase()) ? '' : ' '
}

const withoutComments = (html: string): string => {
  const [before = '', ...parts] = html.split('<!--')
  const rest = parts.map((part) => part.slice(part.includes('-->') ? part.indexOf('-->') + 3 : 0))
  return [before, ...rest].join(' ')
}

/** The words of inline text, without the marks around them. */
const wordsOf = (tokens: readonly Token[]): string => tokens.map(wordOf).join('')

const wordOf = (token: Token): string => {
  switch (token.type) {
    case 'br':
      return '\n'
    case 'escape':
    case 'codespan':
      return token.text
    case 'html':
      return tagText(token.raw)
    case 'checkbox':
      return ''
    default:
      if ('tokens' in token && token.tokens) return wordsOf(token.tokens)
      return decodeHTMLStrict('text' in token ? token.text : token.raw)
  }
}

/** An item for each line, behind its mark. */
const listText = ({ items, ordered, start }: Tokens.List): string =>
  items
    .map((item, n) => `${ordered ? `${Number(start) + n}.` : '-'} ${blocksText(item.tokens, '\n')}`)
    .join('\n')

/** A row for each line, its cells separated. */
const tableText = ({ header, rows }: Tokens.Table): string =>
  [header, ...rows].map((row) => row.map(({ tokens }) => wordsOf(tokens)).join(' | ')).join('\n')

const silent = new Set(['space', 'hr', 'def', 'checkbox'])

const blocksText = (tokens: readonly Token[], between: string): string =>
  tokens
    .filter(({ type }) => !silent.has(type))
    .map(blockText)
    .join(between)

const blockText = (token: Token): string => {
  switch (token.type) {
    case 'code':
      return token.text
    case 'html':
      return decodeHTMLStrict(withoutComments(token.raw).replace(tags, ' '))
    case 'list':
      return listText(token as Tokens.List)
    case 'table':
      return tableText(token as Tokens.Table)
    case 'blockquote':
      return blocksText(token.tokens ?? [], '\n\n')
    default:
      return wordOf(token)
  }
}

/** Headings, paragraphs, lists, tables, code. */
export const parseMarkdown = (bytes: Uint8Array): Block[] => {
  const blocks: Block[] = []
  let line = 1
  for (const token of lexer(decodedText(bytes))) {
    const level = token.type === 'heading' ? { level: Number(token.depth) } : {}
    const text = silent.has(token.type) ? '' : blockText(token)
    if (text.trim() !== '') blocks.push({ text, place: `line ${line}`, ...level })
    const block = blocks.at(-1)
    if (token.type === 'table' && block) block.header = block.text.split('\n', 1)[0] ?? ''
    line += token.raw.split('\n').length - 1
  }
  return blocks
}
