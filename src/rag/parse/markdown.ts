import { lexer, type Token } from 'marked'
import type { Block } from '../block.ts'
import { decodedText } from '../decode-text.ts'

const marks = /(^|[^\w*])(\*\*|__|[*_`])(?=\S)(.+?)(?<=\S)\2(?!\w)/g
const links = /!?\[([^\]\n]*)\]\([^)\n]*\)/g

/** The words without the marks around them. */
const plain = (text: string): string => text.replace(links, '$1').replace(marks, '$1$3')

const textOf = (token: Token): string => {
  if (token.type === 'heading' || token.type === 'paragraph' || token.type === 'text')
    return plain(token.text)
  if (token.type === 'code') return token.text
  if (token.type === 'html') return token.raw.replace(/<[^>]*>/g, ' ')
  return plain(token.raw)
}

const silent = new Set(['space', 'hr', 'def'])

/** Headings, paragraphs, lists, tables, code. */
export const parseMarkdown = (bytes: Uint8Array): Block[] => {
  const blocks: Block[] = []
  let line = 1
  for (const token of lexer(decodedText(bytes))) {
    const level = token.type === 'heading' ? { level: Number(token.depth) } : {}
    const text = silent.has(token.type) ? '' : textOf(token)
    if (text.trim() !== '') blocks.push({ text, place: `line ${line}`, ...level })
    const block = blocks.at(-1)
    if (token.type === 'table' && block) block.header = block.text.split('\n', 1)[0] ?? ''
    line += token.raw.split('\n').length - 1
  }
  return blocks
}
