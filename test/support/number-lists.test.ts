import t from 'tap'
import { numberLists } from '../../src/support/number-lists.ts'

t.test('each list has its numbers in the order of adding, however long it is', (t) => {
  const lists = numberLists()
  const counts = [0, 1, 2, 8, 9, 64, 65, 66, 1_000]
  for (const count of counts)
    for (let n = 0; n < count; n++) lists.add(`key ${count}`, 2 ** 32 - 1 - n)
  for (const count of counts)
    t.strictSame(
      Array.from(lists.get(`key ${count}`)),
      Array.from({ length: count }, (_, n) => 2 ** 32 - 1 - n),
    )
  t.end()
})

t.test('a long list takes 4 to 6 bytes a number', (t) => {
  const lists = numberLists()
  for (let n = 0; n < 100_000; n++) lists.add('key', n)
  t.ok(lists.size >= 400_000 && lists.size < 610_000, String(lists.size))
  t.end()
})
