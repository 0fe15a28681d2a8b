import t from 'tap'
import { piecesIn, piecesOf, piecesOfAll } from '../../src/agents/tokens.ts'
import type { ChatMessage, ContentPart } from '../../src/ports/model.ts'

const file: ContentPart = {
  kind: 'file',
  mediaType: 'text/plain',
  bytes: 2_001,
  at: 0,
  async *read() {},
}

for (const [text, pieces] of [
  ['', 0],
  [' \n\u00a0', 0],
  ['a', 1],
  ['abcdefgh', 1],
  ['abcdefghi', 2],
  ['abcdefghabcdefgh', 2],
  ['abcdefgh abcdefgh', 2],
  ['a, b.', 4],
  ['!', 1],
  ['azAZ09', 1],
  ['`{/:@[', 6],
  ['\u00c0\u1fff', 1],
  ['\u00bf', 1],
  ['\u2000\u2001', 2],
  ['日本', 2],
  ['a{', 2],
  ['a`', 2],
  ['a/', 2],
  ['a:', 2],
  ['a@', 2],
  ['a[', 2],
  ['a\u00bf', 2],
  ['a\u2000', 2],
] as const)
  t.test(`${JSON.stringify(text)} has ${pieces} pieces`, async (t) => {
    t.equal(piecesIn(text), pieces)
  })

const call = { id: 'call-1', name: 'look', arguments: '{"a":1}' }

const messages: readonly [string, ChatMessage, number][] = [
  ['a text', { role: 'user', content: 'one two' }, 4 + 2],
  ['a system message', { role: 'system', content: 'one two' }, 4 + 2],
  ['a file: 500 and one for each 1,000 bytes', { role: 'user', content: '', parts: [file] }, 507],
  [
    'two calls',
    { role: 'assistant', content: 'one', toolCalls: [call, call] },
    4 + 1 + 2 * (4 + 1 + 7),
  ],
  [
    'a result',
    { role: 'tool', toolCallId: 'call-1', name: 'look', content: 'one two three' },
    4 + 3,
  ],
]
for (const [title, message, pieces] of messages)
  t.test(`a message with ${title} has ${pieces} pieces`, async (t) => {
    t.equal(piecesOf(message), pieces)
  })

t.test('a prompt has the pieces of all its messages', async (t) => {
  const all = messages.map(([, message]) => message)
  const sum = messages.reduce((sum, [, , pieces]) => sum + pieces, 0)
  t.equal(piecesOfAll(all), sum)
  t.equal(piecesOfAll([]), 0)
})

t.test('a long message has the same pieces each time', async (t) => {
  for (const length of [255, 256, 1_000]) {
    const message: ChatMessage = { role: 'user', content: 'a'.repeat(length), parts: [file] }
    const pieces = 4 + Math.ceil(length / 8) + 503
    t.equal(piecesOf(message), pieces)
    t.equal(piecesOf(message), pieces)
  }
})

t.test('a long message is counted once, a short one each time', async (t) => {
  for (const [length, counts] of [
    [255, 2],
    [256, 1],
  ] as const) {
    let reads = 0
    const message = {
      role: 'user' as const,
      content: 'a'.repeat(length),
      get parts(): ContentPart[] {
        reads++
        return []
      },
    }
    piecesOf(message)
    piecesOf(message)
    t.equal(reads, counts, `${length} characters`)
  }
})
