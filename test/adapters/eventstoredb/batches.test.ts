import { PassThrough, Readable } from 'node:stream'
import { finished } from 'node:stream/promises'
import t from 'tap'
import { batches, buffered } from '../../../src/adapters/eventstoredb/batches.ts'

/** A stream as the client makes them: a call, piped through a stream that converts. */
const client = (call: Readable) => {
  const source = call.pipe(new PassThrough({ objectMode: true, ...buffered }))
  call.on('error', (error) => source.emit('error', error))
  let cancelled = 0
  const cancel = async () => {
    cancelled++
  }
  return { source, cancel, cancelled: () => cancelled }
}

const numbers = (count: number) => Readable.from(Array.from({ length: count }, (_, n) => n))

const open = new AbortController().signal

t.test('everything comes, in order, as much at once as is there', async (t) => {
  const { source, cancel, cancelled } = client(numbers(1_000))
  const sizes: number[] = []
  const seen: number[] = []
  for await (const batch of batches<number>(source, cancel, open)) {
    sizes.push(batch.length)
    seen.push(...batch)
    await new Promise(setImmediate)
  }
  t.strictSame(
    seen,
    Array.from({ length: 1_000 }, (_, n) => n),
  )
  t.ok(Math.max(...sizes) > 1)
  t.ok(Math.max(...sizes) <= 256)
  t.equal(cancelled(), 1)
})

t.test('a reader who leaves cancels the call, and what it still holds runs out', async (t) => {
  const call = numbers(1_000)
  const { source, cancel, cancelled } = client(call)
  const completion = finished(call)
  for await (const [first] of batches<number>(source, cancel, open)) {
    t.equal(first, 0)
    break
  }
  t.equal(cancelled(), 1)
  await t.resolves(completion)
})

t.test('a failure comes after what was received before it', async (t) => {
  const call = new Readable({ objectMode: true, read: () => undefined })
  const { source, cancel } = client(call)
  const reader = batches<number>(source, cancel, open)
  call.push(1)
  t.strictSame((await reader.next()).value, [1])
  const next = reader.next()
  call.destroy(new RangeError('broken'))
  await t.rejects(next, RangeError)
  t.doesNotThrow(() => source.emit('error', new Error('later')), 'nobody reads any more')
})

t.test('a signal ends the wait', async (t) => {
  const { source, cancel, cancelled } = client(
    new Readable({ objectMode: true, read: () => undefined }),
  )
  const controller = new AbortController()
  const next = batches<number>(source, cancel, controller.signal).next()
  controller.abort()
  await t.rejects(next, { name: 'AbortError' })
  t.equal(cancelled(), 1)
  await t.rejects(batches<number>(source, cancel, controller.signal).next(), { name: 'AbortError' })
})
