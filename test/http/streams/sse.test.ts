import { once } from 'node:events'
import { Readable } from 'node:stream'
import fc from 'fast-check'
import t from 'tap'
import { frame, frameStream } from '../../../src/http/streams/sse.ts'
import { deferred } from '../../../src/support/deferred.ts'
import { framesOf } from '../../support/client.ts'

/** Bytes cut where the network likes. */
const cut = (text: string, lengths: readonly number[]): Readable => {
  const bytes = Buffer.from(text)
  const pieces: Buffer[] = []
  for (let at = 0, n = 0; at < bytes.length; n++) {
    const length = lengths[n % lengths.length] ?? bytes.length
    pieces.push(bytes.subarray(at, at + length))
    at += length
  }
  return Readable.from(pieces)
}

t.test('what goes in comes out, however the bytes are cut', async (t) => {
  const value = fc.oneof(
    fc.jsonValue({ noUnicodeString: false }),
    fc.record({ text: fc.string({ unit: 'binary' }) }),
    fc.constantFrom(
      'data: x\n\n',
      '\r\n\r\n',
      '\u2028\u2029\u0085',
      ': keep-alive',
      'id: 1\nevent: x',
    ),
  )
  const items = fc.array(
    fc.record({ id: fc.stringMatching(/^[\w-]{1,20}:\d{1,3}\.\d:\d{1,5}$/), value }),
  )
  await fc.assert(
    fc.asyncProperty(
      items,
      fc.array(fc.integer({ min: 1, max: 40 }), { minLength: 1, maxLength: 9 }),
      async (sent, lengths) => {
        const text = sent.map(({ id, value }) => frame(id, JSON.stringify(value))).join('')
        const read: unknown[] = []
        for await (const { id, data } of framesOf(cut(text, lengths)))
          read.push({ id, value: data })
        t.strictSame(JSON.stringify(read), JSON.stringify(sent))
      },
    ),
    { numRuns: 200 },
  )
})

/** Frames that come when they are let. */
const byHand = () => {
  const waiting: ((value: string | undefined) => void)[] = []
  let returned = false
  async function* frames() {
    try {
      for (;;) {
        const next = await new Promise<string | undefined>((resolve) => waiting.push(resolve))
        if (next === undefined) return
        yield next
      }
    } finally {
      returned = true
    }
  }
  return {
    frames: frames(),
    give: (text?: string) => waiting.shift()?.(text),
    returned: () => returned,
  }
}

const uncut = () => {
  throw new Error('it was cut')
}

/** What is read, piece by piece; each piece is asked for when the one before was taken. */
const pieces = (stream: Readable) => stream[Symbol.asyncIterator]()

t.test('a comment after every silence, and the frames in between', async (t) => {
  const { frames, give, returned } = byHand()
  const stream = frameStream(frames, { silenceMs: 5, cut: uncut }).setEncoding('utf8')
  const read = pieces(stream)
  const comments = /^(?:: keep-alive\n\n)+$/
  t.match((await read.next()).value, comments)
  t.match((await read.next()).value, comments)
  give('a')
  let found = await read.next()
  while (comments.test(found.value)) found = await read.next()
  t.match(found.value, /^(?:: keep-alive\n\n)*a(?:: keep-alive\n\n)*$/)
  t.match((await read.next()).value, comments)
  give()
  let last = await read.next()
  while (!last.done) last = await read.next()
  t.ok(returned())
})

t.test('a failure of the frames is passed on', async (t) => {
  async function* failing() {
    yield 'a'
    throw new Error('gone')
  }
  const read: string[] = []
  const stream = frameStream(failing(), { silenceMs: 1_000, cut: uncut, ahead: 1 })
  stream.setEncoding('utf8').on('data', (piece) => read.push(piece))
  const [error] = await once(stream, 'error').catch((error) => [error])
  t.match(error, { message: 'gone' })
  t.strictSame(read, ['a'])
})

t.test('a stream of which nothing is taken is cut', async (t) => {
  async function* endless() {
    for (;;) yield 'frame'
  }
  const cut = deferred<void>()
  const pace = { silenceMs: 1_000, cut: () => cut.resolve(), patienceMs: 20 }
  const unread = frameStream(endless(), pace).setEncoding('utf8')
  const read = pieces(unread)
  let text = ''
  while (text.length < 200_000) text += (await read.next()).value
  t.match(text, /^(?:frame)+$/)
  await cut.promise
  unread.destroy()
})

t.test('a stream that has nothing to send is not cut', async (t) => {
  const held = deferred<void>()
  const ticks = deferred<void>()
  async function* silent() {
    yield 'first'
    await held.promise
    yield 'second'
  }
  let cuts = 0
  const pace = { silenceMs: 1_000, cut: () => cuts++, patienceMs: 5 }
  const quiet = frameStream(silent(), pace).setEncoding('utf8')
  const read = pieces(quiet)
  t.match(await read.next(), { value: 'first' })
  const second = read.next()
  let left = 10
  const timer = setInterval(() => --left === 0 && ticks.resolve(), 5)
  await ticks.promise
  clearInterval(timer)
  t.equal(cuts, 0)
  held.resolve()
  t.match(await second, { value: 'second' })
  quiet.destroy()
})

t.test('a stream that is destroyed lets its frames go', async (t) => {
  const held = deferred<void>()
  const gone = deferred<void>()
  async function* frames() {
    try {
      yield 'a'
      await held.promise
    } finally {
      gone.resolve()
    }
  }
  const stream = frameStream(frames(), { silenceMs: 1_000, cut: uncut })
  await once(stream, 'data')
  stream.destroy()
  held.resolve()
  await gone.promise
  t.ok(stream.destroyed)
})
