import t from 'tap'
import { z } from 'zod'
import { type Aggregate, streamOf } from '../../src/domain/aggregate.ts'
import { type AnyStream, streamCache } from '../../src/event-sourcing/stream-cache.ts'

const text: Aggregate<string, { Written: z.ZodString }> = {
  category: 'text',
  events: { Written: z.string() },
  initial: '',
  evolve: { Written: (_, written) => written },
  weigh: ({ length }) => length,
}

const named = (name: string) => streamOf(text, 'org-1', name) as unknown as AnyStream

/** A cache with room for ten streams of this size, besides what each takes itself. */
const cacheOf = () => {
  const nothing = { get: async () => undefined, put: async () => undefined }
  const read = async function* () {}
  const cache = streamCache({ store: { read }, snapshots: nothing, keep: 10_000 })
  const used = (name: string) => {
    const cached = cache.of(named(name))
    cached.state = 'x'.repeat(500)
    cache.release(named(name), cached)
    return cached
  }
  const isKept = (name: string): boolean => cache.of(named(name)).state !== ''
  return { cache, used, isKept }
}

t.test('as many streams are kept as there is room for: those used last', async (t) => {
  const { used, isKept } = cacheOf()
  for (let n = 0; n < 100; n++) {
    used('often')
    used(`${n}`)
  }
  t.ok(isKept('often'))
  for (const name of ['96', '97', '98', '99']) t.ok(isKept(name), name)
  const kept = Array.from({ length: 96 }, (_, n) => isKept(`${n}`)).filter(Boolean)
  t.ok(kept.length < 10, `${kept.length} more`)
})

t.test('a stream is one object for as long as it is busy, whatever else is used', async (t) => {
  const { cache, used } = cacheOf()
  const busy = cache.of(named('busy'))
  busy.busy = true
  for (let n = 0; n < 100; n++) used(`${n}`)
  t.equal(cache.of(named('busy')), busy)
  cache.release(named('busy'), busy)
  for (let n = 0; n < 100; n++) used(`${n}`)
  t.not(cache.of(named('busy')), busy)
})

t.test('a stream that grows takes more room', async (t) => {
  const { cache, used, isKept } = cacheOf()
  used('first')
  const large = used('large')
  large.state = 'x'.repeat(5_000)
  cache.release(named('large'), large)
  t.ok(isKept('large'))
  used('other')
  large.state += 'x'.repeat(5_000)
  cache.release(named('large'), large)
  t.notOk(isKept('first'))
})
