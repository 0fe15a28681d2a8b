import type { TextFlow } from './text-flow.ts'
import { type Attributes, attributeOf, readXml, relationIn, type XmlHandlers } from './xml.ts'

/**
 * Elements that are not read: what was deleted or moved away, properties of earlier versions, tab
 * stops, and the second form of what an `AlternateContent` says in a first one.
 */
const skipped = new Set(
  'Fallback del moveFrom pPrChange rPrChange tblPrChange trPrChange tcPrChange tabs'.split(' '),
)

/** Elements whose characters are text: of runs, and of comments in presentations. */
const texts = new Set(['t', 'text'])

/** Characters of symbol fonts, which mean nothing elsewhere. */
const isPrivate = (code: number): boolean => code >= 0xe000 && code <= 0xf8ff

export type OfficeHooks = Partial<XmlHandlers> & {
  /** The heading level of a paragraph style. */
  levelOf?(style: string): number | undefined
  /** A chart or SmartArt graphic, by the id of its relationship. Called between paragraphs. */
  graphic?(id: string): void
  /** A note or comment, of the element that refers to it. Called between paragraphs. */
  reference?(kind: string, id: string): void
}

type OpenElement = (attributes: Attributes) => void
type Openers = Readonly<Record<string, OpenElement>>

/** The state of a part while it is read. */
type Part = {
  flow: TextFlow
  hooks: OfficeHooks
  tables: number
  equations: number
  /** The heading level of the open paragraph. */
  level: number | undefined
  /** The operator of the open equation. */
  operator: string | undefined
  lastAlternative: string
  boxes: (() => void)[]
  /** Called after the paragraph or table that is open. */
  after: (() => void)[]
}

/** Writes notes, comments and graphics once no table and no box is open. */
const writeAfter = (part: Part): void => {
  if (part.tables > 0 || part.boxes.length > 0) return
  const { after } = part
  part.after = []
  for (const write of after) write()
}

const writeAlternative = (part: Part, text: string | undefined): void => {
  if (!text?.trim() || text === part.lastAlternative) return
  part.lastAlternative = text
  part.flow.write(` ${text} `)
}

const openHeading = (part: Part, level: number | undefined): void => {
  if (level === undefined || part.level !== undefined) return
  part.level = level
  part.flow.openHeading()
}

const isOn = (attributes: Attributes): boolean =>
  !['0', 'false', 'off'].includes(attributeOf(attributes, 'val') ?? '')

/** Paragraphs and the characters in them. */
const paragraphOpeners = (part: Part): Openers => {
  const { flow, hooks } = part
  return {
    p() {
      part.level = undefined
      part.lastAlternative = ''
      flow.endBlock()
    },
    pStyle: (attributes) =>
      openHeading(part, hooks.levelOf?.(attributeOf(attributes, 'val') ?? '')),
    outlineLvl(attributes) {
      const depth = Number(attributeOf(attributes, 'val') ?? 9)
      if (depth < 9) openHeading(part, depth + 1)
    },
    numId(attributes) {
      if (part.level === undefined && attributeOf(attributes, 'val') !== '0') flow.write('- ')
    },
    tab: () => flow.write('\t'),
    br: () => flow.endLine(),
    cr: () => flow.endLine(),
    noBreakHyphen: () => flow.write('-'),
    sym(attributes) {
      const code = Number.parseInt(attributeOf(attributes, 'char') ?? '', 16)
      if (code > 0 && code <= 0xffff && !isPrivate(code)) flow.write(String.fromCharCode(code))
    },
    rt: () => flow.write(' ('),
    oMath: () => void part.equations++,
  }
}

const tableOpeners = (part: Part): Openers => {
  const { flow } = part
  return {
    tbl() {
      part.tables++
      flow.openTable()
    },
    tr: () => flow.openRow(),
    tblHeader(attributes) {
      if (isOn(attributes)) flow.nameColumns()
    },
    tc: () => flow.openCell(),
  }
}

/** Boxes, pictures, graphics, notes and comments. */
const objectOpeners = (part: Part): Openers => {
  const { flow, hooks } = part
  const reference = (name: string) => (attributes: Attributes) => {
    const id = attributeOf(attributes, 'id')
    if (id !== undefined) part.after.push(() => hooks.reference?.(name, id))
  }
  const graphic = (id: string | undefined): void => {
    if (id !== undefined) part.after.push(() => hooks.graphic?.(id))
  }
  return {
    txbxContent: () => void part.boxes.push(flow.setAside()),
    docPr: (attributes) => writeAlternative(part, attributeOf(attributes, 'descr')),
    cNvPr: (attributes) => writeAlternative(part, attributeOf(attributes, 'descr')),
    shape: (attributes) => writeAlternative(part, attributes.alt),
    chart: (attributes) => graphic(relationIn(attributes)),
    relIds: (attributes) => graphic(relationIn(attributes, 'dm')),
    footnoteReference: reference('footnote'),
    endnoteReference: reference('endnote'),
    commentReference: reference('comment'),
  }
}

/** Elements that have a meaning only in an equation. */
const equationOpeners = (part: Part): Openers => {
  const { flow } = part
  return {
    den: () => flow.write('/'),
    sup: () => flow.write('^'),
    sub: () => flow.write('_'),
    rad: () => flow.write('√'),
    d: () => flow.write('('),
    mr: () => flow.write(' '),
    e: () => flow.write(' '),
    naryPr() {
      part.operator = '∫'
    },
    chr(attributes) {
      if (part.operator !== undefined) part.operator = attributeOf(attributes, 'val') ?? ''
    },
  }
}

const closersOf = (part: Part): Readonly<Record<string, () => void>> => {
  const { flow } = part
  return {
    p() {
      flow.endBlock(part.level)
      part.level = undefined
      writeAfter(part)
    },
    text: () => flow.endBlock(),
    rt: () => flow.write(')'),
    tbl() {
      part.tables--
      flow.closeTable()
      writeAfter(part)
    },
    graphicFrame() {
      flow.endBlock()
      writeAfter(part)
    },
    tr: () => flow.endRow(),
    tc: () => flow.closeCell(),
    txbxContent: () => part.boxes.pop()?.(),
    oMath: () => void part.equations--,
  }
}

/** Writes what is left at the end of a part, also where its elements are not closed. */
const endPart = (part: Part): void => {
  part.flow.endBlock()
  part.tables = 0
  part.boxes.length = 0
  writeAfter(part)
}

/**
 * Writes the text of a part of an Office file: paragraphs, tables, equations, text boxes,
 * alternative texts. Word, PowerPoint and their drawings use the same local names for these.
 */
export const writePart = (bytes: Uint8Array, flow: TextFlow, hooks: OfficeHooks = {}): void => {
  const counts = { tables: 0, equations: 0, level: undefined, operator: undefined }
  const part: Part = { flow, hooks, ...counts, lastAlternative: '', boxes: [], after: [] }
  const openers = { ...paragraphOpeners(part), ...tableOpeners(part), ...objectOpeners(part) }
  const inEquation = equationOpeners(part)
  const closers = closersOf(part)
  let skip = 0
  let inText = 0
  readXml(bytes, {
    open(name, attributes) {
      if (skip > 0 || skipped.has(name)) {
        skip++
        return
      }
      if (texts.has(name)) inText++
      hooks.open?.(name, attributes)
      if (Object.hasOwn(openers, name)) openers[name]?.(attributes)
      else if (part.equations > 0 && Object.hasOwn(inEquation, name)) inEquation[name]?.(attributes)
    },
    text(text) {
      if (skip === 0 && inText > 0) flow.write(text)
    },
    close(name) {
      if (skip > 0) {
        skip--
        return
      }
      if (texts.has(name)) inText--
      if (Object.hasOwn(closers, name)) closers[name]?.()
      else if (part.equations > 0 && name === 'd') flow.write(')')
      else if (name === 'naryPr' && part.operator !== undefined) {
        flow.write(part.operator)
        part.operator = undefined
      }
      hooks.close?.(name)
    },
  })
  endPart(part)
}
