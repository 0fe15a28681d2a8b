import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import fc from 'fast-check'
import t from 'tap'
import { feedLines } from '../../src/cli/feed.ts'
import { sseOf, upsert } from '../../src/feeds/item.ts'
import { at } from '../support/positions.ts'

/** Any text, with the characters that some take for the ends of lines. */
const anyText = fc.string({
  unit: fc.oneof(
    { weight: 3, arbitrary: fc.string({ unit: 'grapheme', minLength: 1, maxLength: 1 }) },
    fc.constantFrom('\u2028', '\u2029', '\u0085', '\u000b', '\r', '\n', ':', 'data: ', 'id: 7'),
  ),
})

t.test('feed tail tells every document, whatever is in it, however it arrives', async (t) => {
  let answer: readonly Buffer[] = []
  const server = createServer(async (_, reply) => {
    reply.writeHead(200, { 'content-type': 'text/event-stream' })
    for (const part of answer) await new Promise((sent) => reply.write(part, sent))
    reply.end()
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  t.teardown(() => server.close())
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`

  await fc.assert(
    fc.asyncProperty(
      fc.array(fc.dictionary(anyText, anyText, { noNullPrototype: true }), {
        minLength: 1,
        maxLength: 8,
      }),
      fc.integer({ min: 1, max: 40 }),
      async (documents, size) => {
        const items = documents.map((document, n) => upsert(`${n}`, document, at(n)))
        const text = `: keep-alive\n\n${sseOf({ items })}${sseOf({ items: [], reached: at(9) })}`
        const bytes = Buffer.from(text)
        answer = Array.from({ length: Math.ceil(bytes.length / size) }, (_, n) =>
          bytes.subarray(n * size, (n + 1) * size),
        )
        const lines: string[] = []
        const options = { url, key: 'k', organization: 'o', readModel: 'agents', snapshot: true }
        for await (const line of feedLines({ ...options, say: () => undefined })) {
          lines.push(line)
          if (lines.length === items.length) break
        }
        t.strictSame(
          lines,
          items.map(({ text }) => text),
        )
      },
    ),
    { numRuns: 60, examples: [[[{ text: 'a\u2028b\u2029c' }], 7]] },
  )
})

t.test(
  'a lost feed resumes after the last position, also of a frame without a document',
  async (t) => {
    const lastEventIds: (string | undefined)[] = []
    const server = createServer((request, reply) => {
      lastEventIds.push(request.headers['last-event-id']?.toString())
      reply.writeHead(200, { 'content-type': 'text/event-stream' })
      reply.end(lastEventIds.length === 1 ? 'id: 41\n\n' : 'id: 42\ndata: {}\n\n')
    }).listen(0, '127.0.0.1')
    await once(server, 'listening')
    t.teardown(() => server.close())
    const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
    const feed = { url, key: 'k', organization: 'o', readModel: 'agents', snapshot: true }
    for await (const line of feedLines({ ...feed, say: () => undefined })) {
      t.equal(line, '{}')
      break
    }
    t.strictSame(lastEventIds, [undefined, '41'])
  },
)
