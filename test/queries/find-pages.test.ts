import t from 'tap'
import { findPages } from '../../queries/find-pages.ts'
import type { Find } from '../../src/ports/views.ts'

t.test('reads every page, whatever their number', async (t) => {
  const all = Array.from({ length: 1_200 }, (_, n) => n)
  const find = async ({ skip = 0, limit }: Find) => ({
    items: all.slice(skip, skip + limit),
    total: all.length,
  })
  const sizes: number[] = []
  for await (const items of findPages({ find }, { index: 'open', equals: [true] }))
    sizes.push(items.length)
  t.strictSame(sizes, [500, 500, 200])
})
