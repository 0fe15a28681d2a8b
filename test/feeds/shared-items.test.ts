import t from 'tap'
import type { FeedBatch } from '../../src/feeds/item.ts'
import { sharedBatches, sharedItems } from '../../src/feeds/shared-items.ts'
import { at } from '../support/positions.ts'

/** Items as they come from another process: equal, and never the same. */
const copies = (id: string, text: string, position = 7) => [
  { position: at(position), text: JSON.stringify({ op: 'upsert', id, text }) },
]

t.test('gives equal items of several feeds the same array', async (t) => {
  const share = sharedItems()
  const first = share(copies('a', 'x'.repeat(1_000)))
  t.equal(share(copies('a', 'x'.repeat(1_000))), first)
  t.equal(share(first), first)
  const next = share(copies('b', 'x'.repeat(1_000)))
  t.equal(share(copies('b', 'x'.repeat(1_000))), next)
  t.equal(share(copies('a', 'x'.repeat(1_000))), first, 'also when others came between')
})

t.test('gives items that differ in any character or position as they are', async (t) => {
  const share = sharedItems()
  const first = share(copies('a', `${'x'.repeat(1_000)}y`))
  const erased = copies('a', `${'x'.repeat(1_000)}z`)
  t.equal(share(erased), erased)
  const later = copies('a', `${'x'.repeat(1_000)}y`, 8)
  t.equal(share(later), later)
  const longer = [...first, ...copies('b', '')]
  t.equal(share(longer), longer)
  const none: typeof first = []
  t.equal(share(none), none)
})

t.test('shares the items of batches, and ends with them', async (t) => {
  const share = sharedItems()
  const endings: string[] = []
  const batches = (name: string) => {
    async function* some(): AsyncGenerator<FeedBatch> {
      try {
        yield { items: copies('a', 'one'), partial: true }
        yield { items: copies('b', 'two'), reached: at(9) }
      } finally {
        endings.push(name)
      }
    }
    return sharedBatches(some(), share)
  }
  const [first, second] = [batches('first'), batches('second')]
  const initial = await first.next()
  t.strictSame(initial.value, { items: copies('a', 'one'), partial: true })
  t.equal((await second.next()).value?.items, initial.value?.items)
  const final = await first.next()
  t.strictSame(final.value, { items: copies('b', 'two'), reached: at(9) })
  t.strictSame(await first.next(), { done: true, value: undefined })
  t.strictSame(await second.return?.(), { done: true, value: undefined })
  t.strictSame(endings, ['first', 'second'])
})
