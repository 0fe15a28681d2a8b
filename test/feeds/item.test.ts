import t from 'tap'
import { sseBytes, sseOf } from '../../src/feeds/item.ts'
import { subscriber } from '../../src/feeds/subscriber.ts'
import { at } from '../support/positions.ts'

const items = [6, 7].map((n) => ({ position: at(n), text: `{"n":${n},"text":"žluť"}` }))

t.test('what many are told is encoded once', async (t) => {
  const followers = Array.from({ length: 3 }, () => subscriber(at(5), () => t.fail('cut')))
  for (const one of followers) one.push(items, 40)
  const told = await Promise.all(followers.map((one) => one.follow().next()))
  const bytes = told.map(({ value }) => sseBytes({ items: value ?? [] }))
  t.equal(bytes[0], bytes[1])
  t.equal(bytes[0], bytes[2])
  t.equal(`${bytes[0]}`, sseOf({ items }))
})

t.test('where a batch ends is told to each as it is', async (t) => {
  t.equal(`${sseBytes({ items, reached: at(9) })}`, sseOf({ items, reached: at(9) }))
  t.equal(`${sseBytes({ items, partial: true })}`, sseOf({ items, partial: true }))
  t.equal(`${sseBytes({ items: [], reached: at(9) })}`, 'id: 9\n\n')
  t.equal(sseBytes({ items: [] }).length, 0)
})

t.test('what has waited together comes together', async (t) => {
  const one = subscriber(at(5), () => t.fail('cut'))
  for (const item of items) one.push([item], 20)
  t.strictSame((await one.follow().next()).value, items)
})
