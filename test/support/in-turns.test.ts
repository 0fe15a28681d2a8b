import { isDeepStrictEqual } from 'node:util'
import fc from 'fast-check'
import t from 'tap'
import { inTurns, sortedInTurns } from '../../src/support/in-turns.ts'

t.test('all items come, in order, in lots', async (t) => {
  const items = Array.from({ length: 1_000 }, (_, n) => n)
  const lots: number[][] = []
  for await (const lot of inTurns(items)) lots.push(lot)
  t.strictSame(lots.flat(), items)
  t.ok(lots.length > 1)
  for await (const _ of inTurns([])) t.fail('there is none')
})

t.test('texts are sorted as by toSorted', async (t) => {
  const texts = fc.array(fc.string({ maxLength: 3 }), { maxLength: 2_000, size: 'max' })
  await fc.assert(
    fc.asyncProperty(texts, async (all) =>
      isDeepStrictEqual(await sortedInTurns(all), all.toSorted()),
    ),
    { numRuns: 20 },
  )
  t.pass()
})
