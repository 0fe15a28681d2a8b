import { convert, type FormatCallback, type HtmlToTextOptions } from 'html-to-text'
import { type Block, deepest, Unreadable } from '../block.ts'
import { decodedText } from '../decode-text.ts'

/** Marks a heading in the text made of the elements; removed from all other text. */
const mark = '\u0001'

const heading: FormatCallback = (element, walk, builder, { level }) => {
  builder.openBlock({ leadingLineBreaks: 2 })
  builder.addLiteral(`${mark}${level}`)
  walk(element.children, builder)
  builder.closeBlock({ trailingLineBreaks: 2 })
}

const cell: FormatCallback = (element, walk, builder) => {
  walk(element.children, builder)
  builder.addInline(' | ')
}

const options: HtmlToTextOptions = {
  wordwrap: false,
  formatters: { heading, cell },
  selectors: [
    ...[1, 2, 3, 4, 5, 6].map((level) => ({
      selector: `h${level}`,
      format: 'heading',
      options: { level },
    })),
    { selector: 'title', format: 'heading', options: { level: 0 } },
    { selector: 'a', options: { ignoreHref: true } },
    { selector: 'img', format: 'skip' },
    { selector: 'nav', format: 'skip' },
    { selector: 'td', format: 'cell' },
    { selector: 'th', format: 'cell' },
    {
      selector: 'tr',
      format: 'block',
      options: { leadingLineBreaks: 1, trailingLineBreaks: 1 },
    },
    {
      selector: 'table',
      format: 'block',
      options: { leadingLineBreaks: 2, trailingLineBreaks: 2 },
    },
  ],
}

const tags = /<(\/?)([a-z][a-z0-9-]*)\b[^>]*?(\/?)>/gi
/** Elements without an end tag, or with an optional one. */
const endless = new Set(
  'area base br col colgroup dd dt embed hr img input li link meta option p param source tbody td tfoot th thead tr track wbr'.split(
    ' ',
  ),
)

/** Counts the nesting first, as walking deep elements overflows the stack. @throws Unreadable */
const requireShallow = (html: string): void => {
  let depth = 0
  for (const [, end, name = '', closed] of html.matchAll(tags)) {
    if (closed || endless.has(name.toLowerCase())) continue
    depth = Math.max(0, depth + (end ? -1 : 1))
    if (depth > deepest) throw new Unreadable(`The HTML is nested deeper than ${deepest} elements`)
  }
}

/** Headings and paragraphs of HTML text. @throws Unreadable */
export const blocksOfHtml = (html: string): Block[] => {
  requireShallow(html)
  const text = convert(html.replaceAll(mark, ''), options)
  return text
    .split(/\n{2,}/)
    .map((part) => part.trim())
    .filter((part) => part !== '' && part !== mark)
    .map((part, n) => {
      const place = `paragraph ${n + 1}`
      return part.startsWith(mark)
        ? { text: part.slice(2).trim(), place, level: Number(part[1]) }
        : { text: part, place }
    })
}

/** @throws Unreadable */
export const parseHtml = (bytes: Uint8Array): Block[] => blocksOfHtml(decodedText(bytes))
