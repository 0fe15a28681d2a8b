import { Readable } from 'node:stream'
import fc from 'fast-check'
import t from 'tap'
import { cutUnread, frame, withKeepAlive } from '../../../src/http/streams/sse.ts'
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

t.test('a comment after every silence, and the frames in between', async (t) => {
  const { frames, give, returned } = byHand()
  const stream = withKeepAlive(frames, 5)
  const comment = { done: false, value: ': keep-alive\n\n' }
  t.match(await stream.next(), comment)
  t.match(await stream.next(), comment)
  give('a')
  let found = await stream.next()
  while (found.value === comment.value) found = await stream.next()
  t.match(found, { value: 'a' })
  t.match(await stream.next(), comment)
  give()
  let last = await stream.next()
  while (!last.done) last = await stream.next()
  t.ok(returned())
})

t.test('a failure of the frames is passed on', async (t) => {
  async function* failing() {
    yield 'a'
    throw new Error('gone')
  }
  const stream = withKeepAlive(failing(), 1_000)
  t.match(await stream.next(), { value: 'a' })
  await t.rejects(stream.next(), { message: 'gone' })
})

t.test(
  'a stream of which nothing is taken is cut; one that has nothing to send is not',
  async (t) => {
    async function* endless() {
      for (;;) yield 'frame'
    }
    const cut = deferred<void>()
    const unread = cutUnread(endless(), () => cut.resolve(), 20)
    for (let n = 0; n < 100; n++) t.same(await unread.next(), { value: 'frame', done: false })
    await cut.promise
    await unread.return(undefined)
    const held = deferred<void>()
    const ticks = deferred<void>()
    async function* silent() {
      yield 'first'
      await held.promise
      yield 'second'
    }
    let cuts = 0
    const quiet = cutUnread(silent(), () => cuts++, 5)
    await quiet.next()
    const second = quiet.next()
    let left = 10
    const timer = setInterval(() => --left === 0 && ticks.resolve(), 5)
    await ticks.promise
    clearInterval(timer)
    t.equal(cuts, 0)
    held.resolve()
    t.same(await second, { value: 'second', done: false })
    await quiet.return(undefined)
  },
)
