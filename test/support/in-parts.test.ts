import t from 'tap'
import { firstPart, inParts } from '../../src/support/in-parts.ts'

const numbers = Array.from({ length: 100 }, (_, n) => n)

t.test('parts have all values in order, and end by bytes or items', async (t) => {
  let callCount = 0
  const make = async (value: number) => {
    callCount++
    return { value, bytes: value === 50 ? 1_000 : 10 }
  }
  const parts: number[][] = []
  for await (const part of inParts(numbers, make, { bytes: 100, items: 7 })) {
    parts.push(part)
    t.ok(part.length <= 7)
    t.ok(callCount <= parts.flat().length + 8, 'no more is made than is asked for')
  }
  t.strictSame(parts.flat(), numbers)
  const all = await firstPart(numbers, make, 10_000)
  t.strictSame(all, numbers)
  t.strictSame(await firstPart(numbers, make, 100), numbers.slice(0, 10))
  t.strictSame(await firstPart([50], make, 1), [50], 'at least one')
  t.strictSame(await firstPart([], make, 1), [])
})

t.test('large values of several readers are made in many turns of the event loop', async (t) => {
  let bytes = 0
  let before = 0
  let most = 0
  let turn = setImmediate(function look() {
    most = Math.max(most, bytes - before)
    before = bytes
    turn = setImmediate(look)
  })
  const large = 100_000
  const make = async (value: number) => {
    bytes += large
    return { value, bytes: large }
  }
  const read = async () => {
    let seen = 0
    for await (const part of inParts(numbers, make, { bytes: 1_000_000, items: 200 }))
      seen += part.length
    return seen
  }
  const readers = 5
  t.strictSame(await Promise.all(Array.from({ length: readers }, read)), Array(readers).fill(100))
  clearImmediate(turn)
  most = Math.max(most, bytes - before)
  t.ok(most <= (readers + 1) * 8 * large, `${most} of ${bytes} bytes were made in one turn`)
})
