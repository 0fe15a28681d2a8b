import { cutPlace, cutText } from '../support/cut-text.ts'
import type { Block } from './block.ts'

/** A piece of a document that a search finds: small enough to quote, large enough to answer. */
export type Chunk = {
  text: string
  /** Where it begins: `page 3`, `line 12`, `slide 2`. */
  place: string
  /** The headings above it, the highest first. */
  headings: readonly string[]
  /** Other forms of words in the text, by which it is found too. */
  variants?: readonly string[] | undefined
}

/** Characters. A chunk ends once it has `enough`, and never has more than `most`. */
const enough = 900
const most = 1_400
/** The most characters of a chunk's end that the next chunk repeats. */
const overlap = 160

/** The most characters of a table's header that each passage of it repeats. */
const mostOfHeader = 300

/** Characters of one heading, and of all above a chunk, which are repeated in each. */
const mostOfHeading = 200
const mostOfHeadings = 1_000

const sentences = /[^\p{M}.!?。！？\n][^.!?。！？\n]*(?:[.!?。！？]+[\p{M}"'”’)\]]*|\n|$)\s*/gu

/** The last sentences of a text, as many as fit. */
const tailOf = (text: string): string => {
  const start = cutPlace(text, text.length - 4 * overlap)
  const parts = text.slice(start).match(sentences) ?? []
  let tail = ''
  for (const part of parts.toReversed()) {
    if (tail.length + part.length > overlap) break
    tail = part + tail
  }
  return tail.trim()
}

/** Splits a long text at the ends of sentences, or else of words, or else anywhere. */
const split = (text: string, most: number): string[] => {
  const parts: string[] = []
  let rest = text
  while (rest.length > most) {
    const window = rest.slice(0, most)
    const sentence = Math.max(
      ...['. ', '! ', '? ', '.\n', '\n', '。'].map((end) => window.lastIndexOf(end)),
    )
    const word = window.lastIndexOf(' ')
    const end = sentence > enough / 2 ? sentence + 1 : word > enough / 2 ? word : most
    const cut = cutPlace(rest, end)
    parts.push(rest.slice(0, cut).trim())
    rest = rest.slice(cut).trim()
  }
  return rest ? [...parts, rest] : parts
}

// biome-ignore lint/suspicious/noControlCharactersInRegex: what no reader of text wants
const controls = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f]/g
/** Marks of a byte order, of which no reader sees anything. */
const unseen = /[\ufeff\ufffe\uffff]/g

const clean = (text: string): string =>
  text
    .replace(/\p{Cs}/gu, '')
    .normalize('NFC')
    .replace(unseen, '')
    .replace(controls, ' ')
    .replace(/[^\S\n]+/g, ' ')
    .replace(/ ?\n ?/g, '\n')
    .trim()

const words = /[\p{L}\p{M}\-\u2010]+/gu

/** The other forms of the words in a piece of a block. */
const variantsIn = (piece: string, { variants }: Block): readonly string[] =>
  variants?.size ? [...new Set(piece.match(words))].flatMap((word) => variants.get(word) ?? []) : []

/** Appends a piece to a chunk; `between` is what separates them. */
const append = (chunk: Chunk, between: string, piece: string, more: readonly string[]): Chunk => {
  const variants = [...(chunk.variants ?? []), ...more]
  return {
    ...chunk,
    text: chunk.text + between + piece,
    ...(variants.length > 0 && { variants }),
  }
}

/** What a passage that begins with a row of a table says first: its header. */
const leadOf = ({ header = '' }: Block, text: string): string => {
  const lead = clean(header)
  return lead === text ? '' : cutText(lead, mostOfHeader)
}

type Heading = { text: string; place: string; level: number }

/**
 * Splits at headings, pages and slides. A chunk takes whole paragraphs while they fit; the next one
 * of a section repeats its last words, or the table's header. A heading without words ends others.
 */
export function* chunksOf(blocks: Iterable<Block>): Generator<Chunk> {
  let headings: Heading[] = []
  let bare: Heading | undefined
  let open: Chunk | undefined
  let openPart: number | undefined
  let openHeader: string | undefined

  /** The headings above a chunk, cut; where they are too long together, the nearest. */
  const names = (of: readonly Heading[]): string[] => {
    const nearest: string[] = []
    let room = mostOfHeadings
    for (const { text } of of.toReversed()) {
      const name = cutText(text, mostOfHeading)
      room -= name.length
      if (room < 0) break
      nearest.unshift(name)
    }
    return nearest
  }
  const bareChunk = (next: number): Chunk | undefined =>
    bare && bare.level >= next
      ? { text: bare.text, place: bare.place, headings: names(headings.slice(0, -1)) }
      : undefined

  for (const block of blocks) {
    const { place, level, part } = block
    const text = clean(block.text)
    if (text === '' && level === undefined) continue
    if (open && (level !== undefined || part !== openPart)) {
      yield open
      open = undefined
    }
    if (level !== undefined) {
      const alone = bareChunk(level)
      if (alone) yield alone
      bare = undefined
      headings = headings.filter((above) => above.level < level)
      if (text === '') continue
      bare = { text: cutText(text, most), place, level }
      headings = [...headings, bare]
      continue
    }
    bare = undefined
    openPart = part
    const under = names(headings)
    const isRow = block.header !== undefined
    const isNextRow = openHeader !== undefined && block.header?.startsWith(openHeader) === true
    for (const [n, line] of (isRow ? text.split('\n') : [text]).entries()) {
      const lead = leadOf(block, line)
      for (const piece of split(line, most - lead.length)) {
        const variants = variantsIn(piece, block)
        if (open && open.text.length < enough && open.text.length + piece.length <= most) {
          open = append(open, isNextRow || n > 0 ? '\n' : '\n\n', piece, variants)
          continue
        }
        const start = isRow || !open ? lead : tailOf(open.text)
        if (open) yield open
        open = append({ text: start, place, headings: under }, start && '\n', piece, variants)
      }
    }
    openHeader = block.header
  }
  if (open) yield open
  const alone = bareChunk(Number.NEGATIVE_INFINITY)
  if (alone) yield alone
}
