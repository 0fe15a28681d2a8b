import { Readable } from 'node:stream'
import fc from 'fast-check'
import fastify from 'fastify'
import t, { type Test } from 'tap'
import { type Frames, frame, type Pace, sendFrames } from '../../../src/http/streams/sse.ts'
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

t.test('items are decoded as they were encoded, however the bytes are cut', async (t) => {
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

/** A server that answers with frames, and what its client reads, piece by piece. */
const serveFrames = async (t: Test, frames: Frames, pace: Pace) => {
  const http = fastify({ forceCloseConnections: true })
  const closed = deferred<void>()
  http.get('/', (_, reply) => {
    reply.raw.once('close', closed.resolve)
    return sendFrames(reply, frames, pace)
  })
  t.teardown(() => http.close())
  const url = await http.listen({ port: 0, host: '127.0.0.1' })
  const { body } = await fetch(url)
  if (!body) throw new Error('there is no body')
  const reader = body.pipeThrough(new TextDecoderStream()).getReader()
  t.teardown(() => reader.cancel().catch(() => undefined))
  return { reader, closed: closed.promise }
}

t.test('a comment after every silence, and the frames in between', async (t) => {
  const { frames, give, returned } = byHand()
  const { reader } = await serveFrames(t, frames, { silenceMs: 5 })
  const comments = /^(?:: keep-alive\n\n)+$/
  t.match((await reader.read()).value, comments)
  t.match((await reader.read()).value, comments)
  give('a')
  let chunk = await reader.read()
  while (comments.test(chunk.value ?? '')) chunk = await reader.read()
  t.match(chunk.value, /^(?:: keep-alive\n\n)*a(?:: keep-alive\n\n)*$/)
  t.match((await reader.read()).value, comments)
  give()
  let last = await reader.read()
  while (!last.done) last = await reader.read()
  t.ok(returned())
})

t.test('a failure of the frames breaks the answer off', async (t) => {
  const resume = deferred<void>()
  async function* failing() {
    yield 'a'
    await resume.promise
    throw new Error('gone')
  }
  const { reader } = await serveFrames(t, failing(), {})
  t.match(await reader.read(), { value: 'a' })
  resume.resolve()
  await t.rejects(reader.read())
})

/** Frames that are written where they come, and of which none is ever asked for. */
const pushed = () => {
  const over = deferred<IteratorResult<string>>()
  const ready = deferred<(frame: Uint8Array) => boolean>()
  const frames: Frames = {
    next: () => over.promise,
    pushes: ready.resolve,
    return: async () => ({ done: true, value: undefined }),
  }
  const end = () => over.resolve({ done: true, value: undefined })
  return { frames, write: ready.promise, end }
}

t.test('frames are written while the next is waited for', async (t) => {
  const { frames, write, end } = pushed()
  const { reader } = await serveFrames(t, frames, {})
  const push = await write
  for (const text of ['first', 'second']) {
    t.ok(push(Buffer.from(text)))
    t.match(await reader.read(), { value: text })
  }
  end()
  t.match(await reader.read(), { done: true })
  t.notOk(push(Buffer.from('late')))
})

t.test('nothing more is written to a client that does not read', async (t) => {
  const { frames, write } = pushed()
  const { reader, closed } = await serveFrames(t, frames, { silenceMs: 5 })
  const push = await write
  const chunk = Buffer.alloc(1024 * 1024)
  let given = 0
  while (given < 100 && push(chunk)) given++
  t.ok(given < 100, `${given} MB`)
  t.notOk(push(chunk))
  await reader.cancel()
  await closed
  t.notOk(push(chunk))
})

t.test('headers come before the first frame; a client that goes lets the frames go', async (t) => {
  const held = deferred<void>()
  const over = deferred<void>()
  async function* frames() {
    try {
      await held.promise
      yield 'a'
    } finally {
      over.resolve()
    }
  }
  const { reader, closed } = await serveFrames(t, frames(), {})
  await reader.cancel()
  await closed
  held.resolve()
  await over.promise
})
