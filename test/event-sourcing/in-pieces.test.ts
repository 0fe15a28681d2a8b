import fc from 'fast-check'
import t from 'tap'
import { inPieces } from '../../src/event-sourcing/in-pieces.ts'
import { MAX_APPEND_BYTES } from '../../src/ports/event-store.ts'

const text = (bytes: number) => ({ data: { text: 'x'.repeat(bytes) } })

t.test('events that fit in one append stay together', async (t) => {
  const events = Array.from({ length: 100 }, () => text(1_000))
  t.strictSame(inPieces(events), [events])
  t.strictSame(inPieces([]), [])
})

t.test('an event that fits in no append is a piece by itself', async (t) => {
  const [small, huge] = [text(10), text(2 * MAX_APPEND_BYTES)]
  t.strictSame(inPieces([small, huge, small]), [[small], [huge], [small]])
})

t.test(
  'whatever the sizes: the same events in the same order, each piece within an append',
  async (t) => {
    const sizes = fc.array(fc.integer({ min: 0, max: 400_000 }), { maxLength: 12 })
    fc.assert(
      fc.property(sizes, (all) => {
        const events = all.map(text)
        const pieces = inPieces(events)
        const flat = pieces.flat()
        return (
          flat.length === events.length &&
          flat.every((event, n) => event === events[n]) &&
          pieces.every((piece) => JSON.stringify(piece).length < MAX_APPEND_BYTES)
        )
      }),
    )
    t.pass()
  },
)

for (const [title, value] of [
  ['lists of texts', Array.from({ length: 1_000 }, () => 'x'.repeat(100))],
  ['lists of numbers', Array.from({ length: 8_000 }, () => 1_234)],
  [
    'objects',
    Object.fromEntries(
      Array.from({ length: 1_000 }, (_, n) => [`field ${n}`, { a: 'x'.repeat(80) }]),
    ),
  ],
  ['long names', { ['x'.repeat(100_000)]: null }],
] as const)
  t.test(`events of 100 KB of ${title} are a few to an append`, async (t) => {
    const events = Array.from({ length: 30 }, () => ({ data: { value } }))
    const pieces = inPieces(events)
    t.strictSame(pieces.flat(), events)
    for (const piece of pieces) {
      t.ok(piece.length >= 2 && piece.length <= 12, `${piece.length} events`)
      t.ok(JSON.stringify(piece).length < MAX_APPEND_BYTES)
    }
  })
