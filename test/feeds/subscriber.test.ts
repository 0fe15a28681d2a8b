import { createHook } from 'node:async_hooks'
import t from 'tap'
import type { FeedBatch, Item } from '../../src/feeds/item.ts'
import { subscriber } from '../../src/feeds/subscriber.ts'
import { at } from '../support/positions.ts'

const change = (n: number): readonly Item[] => [{ position: at(n), text: `change ${n}` }]

const textsIn = ({ items }: FeedBatch) => items.map(({ text }) => text)

const following = (most?: number) => {
  const texts: string[] = []
  let cuts = 0
  let takes = true
  const follower = subscriber(at(0), () => cuts++, most)
  follower.pushes((batch) => {
    if (takes) texts.push(...textsIn(batch))
    return takes
  })
  return {
    ...follower,
    texts,
    push: (n: number) => follower.push(change(n), 10),
    cuts: () => cuts,
    setTakes(now: boolean) {
      takes = now
    },
  }
}

t.test('while it is waited for, a change is written, and no promise is made for it', async (t) => {
  const { next, push, texts, end } = following()
  const waited = next()
  let promises = 0
  const counting = createHook({
    init: (_, type) => {
      if (type === 'PROMISE') promises++
    },
  }).enable()
  for (let n = 1; n <= 100; n++) push(n)
  counting.disable()
  t.equal(texts.length, 100)
  t.equal(promises, 0)
  end()
  t.match(await waited, { done: true }, 'it was waited for on')
})

t.test('a change that cannot be written waits, and later changes wait behind it', async (t) => {
  const { next, push, texts, setTakes } = following()
  push(1)
  t.strictSame(texts, [], 'nobody waits yet')
  t.strictSame(textsIn((await next()).value ?? { items: [] }), ['change 1'])
  const waited = next()
  push(2)
  setTakes(false)
  push(3)
  setTakes(true)
  push(4)
  t.strictSame(texts, ['change 2'])
  t.strictSame(textsIn((await waited).value ?? { items: [] }), ['change 3'])
  t.strictSame(textsIn((await next()).value ?? { items: [] }), ['change 4'])
})

t.test('only what waits counts for the bound', async (t) => {
  const { next, push, texts, cuts, setTakes } = following(25)
  void next()
  for (let n = 1; n <= 10; n++) push(n)
  t.equal(texts.length, 10)
  setTakes(false)
  for (let n = 11; n <= 13; n++) push(n)
  t.equal(cuts(), 0, 'one change is written, two wait')
  push(14)
  t.equal(cuts(), 1)
  t.match(await next(), { done: true })
})
