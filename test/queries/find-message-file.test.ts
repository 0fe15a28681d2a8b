import t from 'tap'
import type { MessageView } from '../../projections/messages.ts'
import { findMessageFile } from '../../queries/find-message-file.ts'

const part = { id: 'message-1_0', kind: 'image', media_type: 'image/png', blob: 'blob-1' }
const file = { ...part, id: 'message-1_12', kind: 'file', media_type: 'text/html' }
const named = { ...file, id: 'message-1_2', name: { $sealed: 'k', box: 'a.html' } }
const message = {
  content: { $sealed: 'session-key', box: '' },
  parts: [part, file, named],
} as unknown as MessageView

const find = findMessageFile({
  messages: { get: async (id) => (id === 'message-1' ? message : undefined) },
  open: ({ box }) => box,
})
const stored = { hash: 'blob-1', key: 'session-key' }

for (const [title, id, result] of [
  ['an image', 'message-1_0', { ...stored, mediaType: 'image/png' }],
  [
    'a file without a name',
    'message-1_12',
    { ...stored, mediaType: 'text/html', download: 'message-1_12' },
  ],
  ['a file with a name', 'message-1_2', { ...stored, mediaType: 'text/html', download: 'a.html' }],
  ['a place that the message has not', 'message-1_1', undefined],
  ['a message that there is not', 'message-2_0', undefined],
  ['no id of a file', 'message-1', undefined],
  ['a place of four digits', 'message-1_0000', undefined],
] as const)
  t.test(`finds ${result ? title : `nothing: ${title}`}`, async (t) => {
    t.strictSame(await find(id), result)
  })
