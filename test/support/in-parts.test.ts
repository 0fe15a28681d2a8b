import t from 'tap'
import { firstPart, inParts } from '../../src/support/in-parts.ts'

const numbers = Array.from({ length: 100 }, (_, n) => n)

t.test('parts have all values in order, and end by bytes or items', async (t) => {
  let made = 0
  const make = async (value: number) => {
    made++
    return { value, bytes: value === 50 ? 1_000 : 10 }
  }
  const parts: number[][] = []
  for await (const part of inParts(numbers, make, { bytes: 100, items: 7 })) {
    parts.push(part)
    t.ok(part.length <= 7)
    t.ok(made <= parts.flat().length + 8, 'no more is made than is asked for')
  }
  t.strictSame(parts.flat(), numbers)
  const whole = await firstPart(numbers, make, 10_000)
  t.strictSame(whole, numbers)
  t.strictSame(await firstPart(numbers, make, 100), numbers.slice(0, 10))
  t.strictSame(await firstPart([50], make, 1), [50], 'at least one')
  t.strictSame(await firstPart([], make, 1), [])
})
