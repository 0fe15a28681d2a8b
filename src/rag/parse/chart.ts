import type { TextFlow } from './text-flow.ts'
import { attributeOf, readXml } from './xml.ts'

type Points = Map<number, string>
type Series = { name: string; categories: Points; values: Points }

/** Where the text of a point belongs, by the element around it. */
const kinds: Readonly<Record<string, 'name' | 'categories' | 'values'>> = {
  tx: 'name',
  cat: 'categories',
  xVal: 'categories',
  val: 'values',
  yVal: 'values',
  strDim: 'categories',
  numDim: 'values',
}

/** What has points: a series, or in newer kinds of charts its data. */
const serieses = new Set(['ser', 'data'])
/** Elements with characters: values, runs of text, and points of newer kinds of charts. */
const texts = new Set(['v', 't', 'pt'])

/** Writes a chart as its titles, and a table with a row for each category and a column a series. */
export const writeChart = (bytes: Uint8Array, flow: TextFlow): void => {
  const all: Series[] = []
  let series: Series | undefined
  let kind: 'name' | 'categories' | 'values' | undefined
  let index = 0
  let text: string | undefined
  readXml(bytes, {
    open(name, attributes) {
      if (serieses.has(name)) {
        series = { name: '', categories: new Map(), values: new Map() }
        all.push(series)
      }
      if (series) kind = kinds[name] ?? kind
      if (name === 'pt') index = Number(attributeOf(attributes, 'idx') ?? 0)
      if (texts.has(name)) text = ''
    },
    text(part) {
      if (text !== undefined) text += part
    },
    close(name) {
      if (serieses.has(name)) series = undefined
      if (name === 'p') flow.endBlock()
      if (!texts.has(name) || text === undefined) return
      if (!series) {
        flow.write(text)
        if (name === 'v') flow.endBlock()
      } else if (kind === 'name') series.name += text
      else if (kind) {
        const before = series[kind].get(index)
        series[kind].set(index, before ? `${before} ${text}` : text)
      }
      text = undefined
    },
  })
  flow.endBlock()
  const categories = new Map(all.flatMap(({ categories }) => [...categories]))
  const places = new Set([...categories.keys(), ...all.flatMap(({ values }) => [...values.keys()])])
  const row = (cells: readonly string[]): void => {
    flow.openRow()
    for (const cell of cells) {
      flow.openCell()
      flow.write(cell)
      flow.closeCell()
    }
    flow.endRow()
  }
  flow.openTable()
  row(['', ...all.map(({ name }) => name)])
  for (const n of [...places].toSorted((left, right) => left - right))
    row([categories.get(n) ?? '', ...all.map(({ values }) => values.get(n) ?? '')])
  flow.closeTable()
}
