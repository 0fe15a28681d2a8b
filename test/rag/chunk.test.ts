import t from 'tap'
import { chunksOf } from '../../src/rag/chunk.ts'
import { chunkLine, headLine } from '../../src/rag/chunk-lines.ts'
import { chunkIn, linesOf } from '../../src/rag/stored-chunks.ts'

const sentence = (n: number) => `This is sentence number ${n} of a paragraph that goes on for long.`
const long = (from: number, to: number) =>
  Array.from({ length: to - from }, (_, n) => sentence(from + n)).join(' ')

t.test('under its headings, never over one', async (t) => {
  const chunks = [
    ...chunksOf([
      { text: 'Book', place: 'line 1', level: 1 },
      { text: 'Preface.', place: 'line 2' },
      { text: 'Part', place: 'line 3', level: 2 },
      { text: 'One.', place: 'line 4' },
      { text: 'Two.', place: 'line 5' },
      { text: 'Appendix', place: 'line 6', level: 1 },
    ]),
  ]
  t.strictSame(chunks, [
    { text: 'Preface.', place: 'line 2', headings: ['Book'] },
    { text: 'One.\n\nTwo.', place: 'line 4', headings: ['Book', 'Part'] },
    { text: 'Appendix', place: 'line 6', headings: [] },
  ])
})

t.test('pages and records stand for themselves', async (t) => {
  const pages = [1, 2].map((part) => ({ text: `Page ${part}`, place: `page ${part}`, part }))
  t.strictSame(
    [...chunksOf(pages)].map(({ place }) => place),
    ['page 1', 'page 2'],
  )
})

t.test(
  'a long text is cut at sentences, and each chunk begins with the last words before it',
  async (t) => {
    const chunks = [...chunksOf([{ text: long(0, 100), place: 'line 1' }])]
    t.ok(chunks.length > 4)
    for (const [n, { text }] of chunks.entries()) {
      t.ok(text.length <= 1_600, `${text.length}`)
      t.match(text, /^This .*\.$/s)
      const before = chunks[n - 1]?.text
      if (before) t.ok(before.endsWith(text.split('\n')[0] ?? '?'))
    }
    for (let n = 0; n < 100; n++) t.ok(chunks.some(({ text }) => text.includes(sentence(n))))
  },
)

t.test('each passage of a table repeats its header, cut, and its rows are lines', async (t) => {
  const header = 'Name | Age'
  const rows = Array.from({ length: 100 }, (_, n) => `Person ${n} of many | ${n}`)
  const place = 'line 1'
  const oneByOne = [header, ...rows].map((text) => ({ text, place, header }))
  const oneBlock = [{ text: [header, ...rows].join('\n'), place, header }]
  for (const table of [oneByOne, oneBlock]) {
    const chunks = [...chunksOf([{ text: 'Before', place }, ...table, { text: 'After', place }])]
    t.match(chunks[0]?.text, /^Before\n\nName \| Age\nPerson 0/)
    for (const { text } of chunks.slice(1)) t.match(text, /^Name \| Age\nPerson \d+ of many \| \d+/)
    t.match(chunks.at(-1)?.text, /\| 99\n\nAfter$/)
  }
  const wide = 'Column '.repeat(100)
  const wideRows = rows.map((text) => ({ text: text.repeat(100), place, header: wide }))
  for (const { text } of chunksOf([{ text: wide, place, header: wide }, ...wideRows]))
    t.ok(text.length <= 1_401, `${text.length}`)
})

t.test('a heading without words ends the headings above', async (t) => {
  const part = (n: number) => ({ place: `slide ${n}`, part: n })
  const slides = [
    { text: 'Sales', level: 1, ...part(1) },
    { text: 'Ten', ...part(1) },
    { text: '', level: 1, ...part(2) },
    { text: 'Twenty', ...part(2) },
  ]
  t.match([...chunksOf(slides)], [{ headings: ['Sales'] }, { text: 'Twenty', headings: [] }])
})

t.test('text without any end, and what is no text', async (t) => {
  const chunks = [...chunksOf([{ text: 'x'.repeat(5_000), place: 'line 1' }])]
  t.equal(chunks.reduce((sum, { text }) => sum + text.replace(/\s/g, '').length, 0) >= 5_000, true)
  t.strictSame([...chunksOf([{ text: ' \u0000\n ', place: 'line 1' }])], [])
  t.match([...chunksOf([{ text: 'a\ud800b\u0007', place: 'line 1' }])], [{ text: 'ab' }])
  t.match([...chunksOf([{ text: 'a\u0007b\ufeffc', place: 'line 1' }])], [{ text: 'a bc' }])
})

t.test('chunks are stored as lines that can be read one by one', async (t) => {
  const chunks = [...chunksOf([{ text: long(0, 60), place: 'line 1' }])]
  const stored = (id: string) => [headLine(id), ...chunks.map(chunkLine)].join('')
  const bytes = Buffer.from(stored('u-1'))
  t.notSame(bytes, Buffer.from(stored('u-2')))
  async function* inBits() {
    for (let n = 0; n < bytes.length; n += 7) yield bytes.subarray(n, n + 7)
  }
  const lines = []
  for await (const line of linesOf(inBits())) lines.push(line)
  t.strictSame(
    lines.slice(1).map(({ text }) => chunkIn(text)),
    chunks,
  )
  for (const { text, start, end } of lines) t.equal(bytes.toString('utf8', start, end + 1), text)
})

t.test('a cut that finds no word or sentence is between grapheme clusters', async (t) => {
  const graphemes = new Intl.Segmenter('en', { granularity: 'grapheme' })
  for (const grapheme of ['👨‍👩‍👧‍👦', '🇩🇪', '👍🏽', 'e\u0301\u0302', '漢', '。\ufe00'])
    for (const before of ['', 'a']) {
      const text = before + grapheme.repeat(3_000)
      const chunks = [
        ...chunksOf([
          { text, place: 'line 1', level: 1 },
          { text, place: 'line 2' },
          { text, place: 'line 3', level: 1 },
        ]),
      ]
      const known = new Set([before, grapheme.normalize('NFC'), '\n'])
      for (const { text, headings } of chunks)
        for (const part of [text, ...headings])
          for (const { segment } of graphemes.segment(part))
            if (!known.has(segment))
              t.fail(`${JSON.stringify(segment)} of ${JSON.stringify(grapheme)}`)
      t.ok(chunks.every(({ headings }) => headings.every(({ length }) => length > 180)))
    }
})
