import { type Block, longestText, Unreadable } from '../block.ts'

/** A table that is open. One that is used for layout is no table: its cells are paragraphs. */
type Table = {
  isLayout: boolean
  /** The rows at its top that name its columns. */
  header: string
  headerRows: number
  rows: number
  /** Whether the row that is open names columns. */
  names: boolean
  cells: string[]
  inCell: boolean
}

type Place = Pick<Block, 'place' | 'part'>

/** Characters of a header; more rows at the top of a table are rows like others. */
const longestHeader = 300

const oneLine = (text: string): string => text.replace(/\s+/g, ' ').trim()

/**
 * Makes blocks of what a parser finds, in order. A row of a table is one block and one line, its
 * cells separated by ` | `. Its header are the rows marked so, or else the first one.
 */
export const textFlow = (at: (number: number) => Place) => {
  const blocks: Block[] = []
  const tables: Table[] = []
  let text = ''
  let length = 0

  const emit = (block: Pick<Block, 'text' | 'level' | 'header'>): void => {
    if (block.text.trim() === '') return
    length += block.text.length
    if (length > longestText)
      throw new Unreadable(`The document has more than ${longestText / 1_048_576} MB of text`)
    blocks.push({ ...block, text: block.text.trim(), ...at(blocks.length + 1) })
  }

  /** Takes the text since the last block or cell. */
  const take = (): string => {
    const pending = text
    text = ''
    return pending
  }

  const isInCell = (table: Table | undefined): boolean => table?.inCell === true && !table.isLayout

  const lay = (table: Table): void => {
    const rest = take()
    for (const cell of table.cells) emit({ text: cell })
    table.cells = []
    table.isLayout = true
    text = rest
    endBlock()
  }

  /** Ends a paragraph, or a heading of that level. A cell goes on, unless it has a heading. */
  const endBlock = (level?: number): void => {
    const table = tables.at(-1)
    if (table && isInCell(table)) {
      text += ' '
      return
    }
    const pending = take()
    emit(level === undefined ? { text: pending } : { text: oneLine(pending), level })
  }

  const endRow = (): void => {
    const table = tables.at(-1)
    if (!table || table.isLayout) {
      endBlock()
      return
    }
    const { cells, rows } = table
    table.cells = []
    const rest = take()
    const row = cells.map(oneLine)
    if (row.some((cell) => cell !== '')) {
      const line = row.join(' | ').trim()
      if (table.names || (rows === 0 && row.length > 1)) {
        table.header = table.header ? `${table.header}\n${line}` : line
        table.headerRows++
      }
      table.rows++
      emit({ text: line, header: table.header })
    }
    emit({ text: rest })
  }

  return {
    blocks,
    /** Adds a block of another flow. */
    add: emit,
    /** Whether anything is written since the last block or cell ended. */
    hasText: (): boolean => text.trim() !== '',
    write(part: string): void {
      text += part
    },
    endLine(): void {
      text += isInCell(tables.at(-1)) ? ' ' : '\n'
    },
    endBlock,
    /** A heading begins; a table that has headings in its cells is used for layout. */
    openHeading(): void {
      const table = tables.at(-1)
      if (table && isInCell(table)) lay(table)
      endBlock()
    },
    openTable(): void {
      const outer = tables.at(-1)
      if (outer && isInCell(outer)) lay(outer)
      else endBlock()
      tables.push({
        isLayout: false,
        header: '',
        headerRows: 0,
        rows: 0,
        names: false,
        cells: [],
        inCell: false,
      })
    },
    closeTable(): void {
      if (tables.at(-1)?.cells.length) endRow()
      endBlock()
      tables.pop()
    },
    openRow(): void {
      const table = tables.at(-1)
      if (table?.cells.length) endRow()
      endBlock()
      if (table) table.names = false
    },
    /** The row that is open names the columns; rows do so only at the top. */
    nameColumns(): void {
      const table = tables.at(-1)
      if (table)
        table.names = table.rows === table.headerRows && table.header.length < longestHeader
    },
    endRow,
    openCell(): void {
      const table = tables.at(-1)
      endBlock()
      if (table) table.inCell = true
    },
    closeCell(): void {
      const table = tables.at(-1)
      if (!table || table.isLayout) {
        endBlock()
        return
      }
      table.cells.push(take())
      table.inCell = false
    },
    /** Begins a text within the open paragraph. Answers a function that resumes the paragraph. */
    setAside(): () => void {
      const aside = take()
      const outer = tables.splice(0)
      return () => {
        endBlock()
        tables.splice(0, tables.length, ...outer)
        text = aside
      }
    },
  }
}

export type TextFlow = ReturnType<typeof textFlow>
