import { Parser } from 'htmlparser2'
import { type Block, deepest, Unreadable } from '../block.ts'
import { decodedText } from '../decode-text.ts'
import { textFlow } from './text-flow.ts'

const setOf = (names: string): ReadonlySet<string> => new Set(names.split(' '))

/** Elements that are no part of the text. */
const skipped = setOf('script style template nav')
/** Elements that begin and end a paragraph. */
const paragraphs = setOf(
  'address article aside blockquote body caption center details dialog dir div dl fieldset figcaption figure footer form header hgroup hr html iframe legend listing main menu ol optgroup p plaintext pre search section summary ul xmp',
)
/** Elements that begin and end a line. */
const lines = setOf('br dd dt li option')
/** Elements within a line that separate words nevertheless. */
const boxes = setOf(
  'audio button canvas desc img input meter object progress select svg text textarea video',
)
/** Elements whose `alt` stands for them. */
const pictures = setOf('img area input')
const preserving = setOf('pre listing plaintext textarea xmp')
const headings: ReadonlyMap<string, number> = new Map(
  [1, 2, 3, 4, 5, 6].map((level) => [`h${level}`, level]),
)

const blanks = /[ \t\r\n\f]+/g

/** Headings, paragraphs and tables of HTML text, which is read as a stream. @throws Unreadable */
export const blocksOfHtml = (html: string): Block[] => {
  const flow = textFlow((number) => ({ place: `paragraph ${number}` }))
  /** Of each row that is open: how many of its cells name something, and how many do not. */
  const rows: { names: number; others: number }[] = []
  let depth = 0
  let skip = 0
  let preserve = 0
  let drawings = 0
  let tableHeads = 0
  let level: number | undefined

  /** A heading that is not closed ends where a paragraph begins. */
  const endParagraph = (): void => {
    const isHeading = flow.hasText()
    flow.endBlock(level)
    if (isHeading) level = undefined
  }
  const head = (of: number): void => {
    endParagraph()
    flow.openHeading()
    level = of
  }
  const space = (): void => flow.write(' ')

  const opened = (name: string, attributes: Readonly<Record<string, string>>): void => {
    if (attributes.alt && pictures.has(name)) flow.write(` ${attributes.alt} `)
    if (preserving.has(name)) preserve++
    if (name === 'svg') drawings++
    const heading = headings.get(name)
    if (heading !== undefined) head(heading)
    else if (name === 'title' && drawings === 0) head(0)
    else if (paragraphs.has(name)) endParagraph()
    else if (lines.has(name)) {
      flow.endLine()
      if (name === 'li') flow.write('- ')
    } else if (boxes.has(name) || name === 'title') space()
    else if (name === 'table') {
      endParagraph()
      flow.openTable()
    } else if (name === 'thead') tableHeads++
    else if (name === 'tr') {
      rows.push({ names: 0, others: 0 })
      flow.openRow()
    } else if (name === 'td' || name === 'th') {
      const row = rows.at(-1)
      if (row) row[name === 'th' ? 'names' : 'others']++
      flow.openCell()
    }
  }

  const closed = (name: string): void => {
    if (preserving.has(name)) preserve--
    if (name === 'svg') drawings--
    if (headings.has(name) || (name === 'title' && drawings === 0)) {
      flow.endBlock(level)
      level = undefined
    } else if (paragraphs.has(name)) endParagraph()
    else if (lines.has(name) && name !== 'br') flow.endLine()
    else if (boxes.has(name) || name === 'title') space()
    else if (name === 'table') flow.closeTable()
    else if (name === 'thead') tableHeads--
    else if (name === 'tr') {
      const row = rows.pop()
      if (tableHeads > 0 || (row && row.names > 0 && row.others === 0)) flow.nameColumns()
      flow.endRow()
    } else if (name === 'td' || name === 'th') flow.closeCell()
  }

  const parser = new Parser({
    onopentag(name, attributes) {
      depth++
      if (depth > deepest)
        throw new Unreadable(`The HTML is nested deeper than ${deepest} elements`)
      if (skip > 0 || skipped.has(name)) skip++
      else opened(name, attributes)
    },
    ontext(text) {
      if (skip === 0) flow.write(preserve > 0 ? text : text.replace(blanks, ' '))
    },
    onclosetag(name) {
      depth--
      if (skip > 0) skip--
      else closed(name)
    },
  })
  parser.end(html)
  endParagraph()
  return flow.blocks
}

/** @throws Unreadable */
export const parseHtml = (bytes: Uint8Array): Block[] => blocksOfHtml(decodedText(bytes))
