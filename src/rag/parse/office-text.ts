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

/**
 * Writes the text of a part of an Office file: paragraphs, tables, equations, text boxes,
 * alternative texts. Word, PowerPoint and their drawings use the same local names for these.
 */
export const writePart = (bytes: Uint8Array, flow: TextFlow, hooks: OfficeHooks = {}): void => {
  let skip = 0
  let inText = 0
  let inEquation = 0
  let tables = 0
  let level: number | undefined
  let operator: string | undefined
  let lastAlternative = ''
  const boxes: (() => void)[] = []
  /** What follows the paragraph or table that is open. */
  let after: (() => void)[] = []

  const follow = (): void => {
    if (tables > 0 || boxes.length > 0) return
    const now = after
    after = []
    for (const write of now) write()
  }
  const later = (write: () => void): void => {
    after.push(write)
  }

  const alternative = (text: string | undefined): void => {
    if (!text?.trim() || text === lastAlternative) return
    lastAlternative = text
    flow.write(` ${text} `)
  }
  const reference = (name: string) => (attributes: Attributes) => {
    const id = attributeOf(attributes, 'id')
    if (id !== undefined) later(() => hooks.reference?.(name, id))
  }
  const graphic = (id: string | undefined): void => {
    if (id !== undefined) later(() => hooks.graphic?.(id))
  }
  const isOn = (attributes: Attributes): boolean =>
    !['0', 'false', 'off'].includes(attributeOf(attributes, 'val') ?? '')
  const head = (headingLevel: number | undefined): void => {
    if (headingLevel === undefined || level !== undefined) return
    level = headingLevel
    flow.openHeading()
  }

  const openers: Readonly<Record<string, (attributes: Attributes) => void>> = {
    p() {
      level = undefined
      lastAlternative = ''
      flow.endBlock()
    },
    pStyle: (attributes) => head(hooks.levelOf?.(attributeOf(attributes, 'val') ?? '')),
    outlineLvl(attributes) {
      const depth = Number(attributeOf(attributes, 'val') ?? 9)
      if (depth < 9) head(depth + 1)
    },
    numId(attributes) {
      if (level === undefined && attributeOf(attributes, 'val') !== '0') flow.write('- ')
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
    tbl() {
      tables++
      flow.openTable()
    },
    tr: () => flow.openRow(),
    tblHeader(attributes) {
      if (isOn(attributes)) flow.nameColumns()
    },
    tc: () => flow.openCell(),
    txbxContent() {
      boxes.push(flow.setAside())
    },
    docPr: (attributes) => alternative(attributeOf(attributes, 'descr')),
    cNvPr: (attributes) => alternative(attributeOf(attributes, 'descr')),
    shape: (attributes) => alternative(attributes.alt),
    chart: (attributes) => graphic(relationIn(attributes)),
    relIds: (attributes) => graphic(relationIn(attributes, 'dm')),
    footnoteReference: reference('footnote'),
    endnoteReference: reference('endnote'),
    commentReference: reference('comment'),
    oMath: () => void inEquation++,
  }
  const equationOpeners: Readonly<Record<string, (attributes: Attributes) => void>> = {
    den: () => flow.write('/'),
    sup: () => flow.write('^'),
    sub: () => flow.write('_'),
    rad: () => flow.write('√'),
    d: () => flow.write('('),
    mr: () => flow.write(' '),
    e: () => flow.write(' '),
    naryPr() {
      operator = '∫'
    },
    chr(attributes) {
      if (operator !== undefined) operator = attributeOf(attributes, 'val') ?? ''
    },
  }
  const closers: Readonly<Record<string, () => void>> = {
    p() {
      flow.endBlock(level)
      level = undefined
      follow()
    },
    text: () => flow.endBlock(),
    rt: () => flow.write(')'),
    tbl() {
      tables--
      flow.closeTable()
      follow()
    },
    graphicFrame() {
      flow.endBlock()
      follow()
    },
    tr: () => flow.endRow(),
    tc: () => flow.closeCell(),
    txbxContent: () => boxes.pop()?.(),
    oMath: () => void inEquation--,
  }

  readXml(bytes, {
    open(name, attributes) {
      if (skip > 0 || skipped.has(name)) {
        skip++
        return
      }
      if (texts.has(name)) inText++
      hooks.open?.(name, attributes)
      if (Object.hasOwn(openers, name)) openers[name]?.(attributes)
      else if (inEquation > 0 && Object.hasOwn(equationOpeners, name))
        equationOpeners[name]?.(attributes)
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
      else if (inEquation > 0 && name === 'd') flow.write(')')
      else if (name === 'naryPr' && operator !== undefined) {
        flow.write(operator)
        operator = undefined
      }
      hooks.close?.(name)
    },
  })
  flow.endBlock()
  tables = 0
  boxes.length = 0
  follow()
}
