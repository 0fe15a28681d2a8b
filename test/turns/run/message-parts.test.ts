import t from 'tap'
import type { AgentTurn } from '../../../src/agents/turn.ts'
import type { MessagePart } from '../../../src/domain/session/events.ts'
import type { Remembered } from '../../../src/domain/session/session.ts'
import type { ChatMessage, ContentPart } from '../../../src/ports/model.ts'
import type { KeyedBlobs } from '../../../src/security/sealed-blobs.ts'
import type { Keyed } from '../../../src/security/vault.ts'
import {
  arriving,
  hasParts,
  partsOf,
  readied,
  remembered,
  storedParts,
} from '../../../src/turns/run/message-parts.ts'
import { agentNamed, turnOf } from '../../support/agents.ts'

/** A key whose boxes are the texts themselves, and whose names are the hashes. */
const key = {
  seal: (box: string) => ({ $sealed: 'key', box }),
  open: ({ box }: { box: string }) => box,
  nameOf: (hash: string) => `blob-${hash}`,
} as unknown as Keyed
const sealed = (box: string) => ({ $sealed: 'key', box })

async function* bytesOf(...texts: string[]) {
  for (const text of texts) yield Buffer.from(text)
}

/** Blobs by name, and what was stored. */
const filesOf = (stored: Record<string, string>) => {
  const put: string[] = []
  const files = {
    get: async (name: string) => (name in stored ? bytesOf(stored[name] ?? '') : undefined),
    size: async (name: string) => stored[name]?.length,
    put: async (bytes: AsyncIterable<Uint8Array>) => {
      for await (const piece of bytes) put.push(String(piece))
    },
  } as unknown as KeyedBlobs
  return { files, put }
}
const { files } = filesOf({})
const textOf = async (part: ContentPart | undefined) => {
  let text = ''
  for await (const piece of part?.read() ?? []) text += piece
  return text
}

const part = (more: Partial<MessagePart> = {}): MessagePart => ({
  id: 'message-1_0',
  kind: 'file',
  mediaType: 'text/plain',
  bytes: 1,
  at: 0,
  blob: 'blob-1',
  ...more,
})
const message = (text: string, parts?: MessagePart[]): Remembered => ({
  role: 'user',
  content: sealed(text),
  ...(parts ? { parts } : {}),
})
const partsIn = (message: ChatMessage | undefined) =>
  message && 'parts' in message ? (message.parts?.length ?? 0) : 0

t.test('files of a message are stored under ids of their own, without their bytes', async (t) => {
  const facts = { kind: 'image' as const, mediaType: 'image/png', bytes: 3, at: 4 }
  const arrived = { ...facts, hash: 'h', read: () => bytesOf('abc') }
  t.strictSame(storedParts('message-1', [arrived, { ...arrived, name: 'a.png' }], key), [
    { id: 'message-1_0', ...facts, blob: 'blob-h' },
    { id: 'message-1_1', ...facts, blob: 'blob-h', name: sealed('a.png') },
  ])
})

t.test('a stored file has its facts, and its size only where both sides are known', async (t) => {
  const named = part({ kind: 'image', name: sealed('a'), detail: 'low', width: 3, height: 2 })
  const half = part({ width: 3 })
  const { files } = filesOf({ 'blob-1': 'abc' })
  const [image, other] = partsOf({ parts: [named, half] }, key, files)
  t.match(image, { kind: 'image', name: 'a', detail: 'low', width: 3, height: 2, at: 0, bytes: 1 })
  t.notOk(other && ('width' in other || 'name' in other || 'detail' in other))
  t.equal(await textOf(image), 'abc')
  t.equal(await image?.ready?.(), true)
  t.strictSame(partsOf({}, key, files), [])
})

t.test('a stored file that is gone is not ready, and cannot be read', async (t) => {
  const [missing] = partsOf({ parts: [part()] }, key, files)
  t.equal(await missing?.ready?.(), false)
  await t.rejects(textOf(missing), { message: 'a file of a message is gone' })
})

t.test('a file that arrives is stored again where it is gone, and only there', async (t) => {
  const arrived = {
    kind: 'file' as const,
    mediaType: 'text/plain',
    bytes: 3,
    at: 0,
    hash: 'h',
    read: () => bytesOf('abc'),
  }
  const { files: without, put } = filesOf({})
  t.equal(await arriving(arrived, key, without).ready?.(), true)
  t.strictSame(put, ['abc'])
  const { files: holding, put: none } = filesOf({ 'blob-h': 'abc' })
  const there = arriving(arrived, key, holding)
  t.equal(await there.ready?.(), true)
  t.strictSame(none, [])
  t.equal(await textOf(there), 'abc')
})

for (const [title, newest, before, count] of [
  [
    'ten files in all',
    Array.from({ length: 4 }, () => part()),
    Array.from({ length: 6 }, () => part()),
    6,
  ],
  [
    'eleven files in all',
    Array.from({ length: 4 }, () => part()),
    Array.from({ length: 7 }, () => part()),
    0,
  ],
  ['10 MB in all', [part({ bytes: 485_760 })], [part({ bytes: 10_000_000 })], 1],
  ['a byte more than 10 MB', [part({ bytes: 485_760 })], [part({ bytes: 10_000_001 })], 0],
] as const)
  t.test(`of ${title}, the newest are shown, and ${count} of the earlier message`, async (t) => {
    const messages = remembered(
      [message('old', [...before]), message('new', [...newest])],
      key,
      files,
    )
    t.equal(partsIn(messages[1]), newest.length)
    t.equal(partsIn(messages[0]), count)
    t.equal(messages[0]?.content.split('\n').length, 1 + before.length - count, 'others are named')
  })

t.test('messages keep their order, role and text', async (t) => {
  const recent: Remembered[] = [
    message('one'),
    { role: 'assistant', content: sealed('two') },
    message('three'),
  ]
  t.strictSame(remembered(recent, key, files), [
    { role: 'user', content: 'one' },
    { role: 'assistant', content: 'two' },
    { role: 'user', content: 'three' },
  ])
})

const fileOf = (ready?: boolean): ContentPart => ({
  kind: 'file',
  mediaType: 'text/plain',
  bytes: 1,
  at: 0,
  read: () => bytesOf('a'),
  ...(ready === undefined ? {} : { ready: async () => ready }),
})
const turn = (more: Partial<AgentTurn>): AgentTurn => turnOf(agentNamed('A'), 'Look', more)

t.test('a turn has files where its message or its history has', async (t) => {
  t.notOk(hasParts(turn({})))
  t.ok(hasParts(turn({ parts: [fileOf()] })))
  t.ok(hasParts(turn({ history: [{ role: 'user', content: '', parts: [fileOf()] }] })))
  t.notOk(hasParts(turn({ history: [{ role: 'user', content: '' }] })))
})

t.test('a turn whose files are all ready stays as it is', async (t) => {
  const ready = turn({ parts: [fileOf(true), fileOf()] })
  t.equal(await readied(ready), ready)
})

t.test('a file that is gone is named in the text, and the others stay', async (t) => {
  const [missing, present] = [fileOf(false), fileOf(true)]
  const history: ChatMessage[] = [{ role: 'user', content: 'See', parts: [missing, present] }]
  const result = await readied(turn({ parts: [present, missing], history }))
  t.strictSame(result.parts, [present])
  t.equal(result.message, 'Look\n[file, text/plain, 1 bytes]')
  t.strictSame(result.history, [
    { role: 'user', content: 'See\n[file, text/plain, 1 bytes]', parts: [present] },
  ])
})

t.test('a turn whose only file is gone has none', async (t) => {
  const result = await readied(turn({ parts: [fileOf(false)] }))
  t.notOk('parts' in result)
  t.equal(result.message, 'Look\n[file, text/plain, 1 bytes]')
})
