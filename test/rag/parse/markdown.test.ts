import t from 'tap'
import { chunksOf } from '../../../src/rag/chunk.ts'
import { parse } from '../../../src/rag/parse/parse.ts'

t.test('every passage of a table repeats its header, and rows are lines', async (t) => {
  const rows = Array.from({ length: 200 }, (_, n) => `| Person ${n} | Street ${n} |`)
  const text = ['| Name | Street |', '|---|---|', ...rows].join('\n')
  const blocks = await parse(
    new TextEncoder().encode(`Before\n\n${text}\n\nAfter`),
    'text/markdown',
  )
  const [first, ...chunks] = chunksOf(blocks)
  t.match(first?.text, /^Before\n\n.*Name \| Street/)
  t.ok(chunks.length > 2)
  for (const { text } of chunks) t.match(text, /^.*Name \| Street.*\n.*Person \d+ \| Street \d+/)
  for (const { text } of chunks.slice(0, -1)) t.notMatch(text, /\n\n/)
  t.match(chunks.at(-1)?.text, /\n\nAfter$/)
})
