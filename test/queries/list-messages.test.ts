import t from 'tap'
import type { MessageView } from '../../projections/messages.ts'
import { getMessage, type MessageUses } from '../../queries/get-message.ts'
import { listMessages } from '../../queries/list-messages.ts'
import type { Find, View } from '../../src/ports/views.ts'

const sealed = (box: string) => ({ $sealed: 'k', box })
const message = (id: string, more: Partial<MessageView> = {}) =>
  ({
    event_id: id,
    event_type: 'assistant_message',
    organization_id: 'org-1',
    session_id: 's-1',
    agent: 'A',
    created_at: '2026-01-01T00:00:00.000Z',
    visibility: 'public',
    content: sealed(`text of ${id}`),
    ...more,
  }) as MessageView

const sessionRef = {
  organizationId: 'org-1',
  viewer: { userId: 'user-1', onlyKeyId: null },
  sessionId: 's-1',
}

/** A session of these messages, whose texts are in memory or opened later. */
const usesOf = (all: readonly MessageView[], later = false): MessageUses => ({
  messages: {
    get: async (id: string) => all.find(({ event_id }) => event_id === id),
    find: async ({ skip = 0, limit = 0 }: Find) => ({
      items: all.slice(skip, skip + limit),
      total: all.length,
    }),
  } as unknown as View<MessageView>,
  findSession: (async () => ({
    message_count: all.length,
  })) as unknown as MessageUses['findSession'],
  open: ({ box }) => (later ? Promise.resolve(box) : box),
})
const linkOf = (id: string) => `/files/${id}`
const call = (text: string) => ({ id: 'call-1', name: 'look', arguments: sealed(text) })
const part = { id: 'p-1', kind: 'file', mediaType: 'text/plain', bytes: 1, at: 0, blob: 'b' }

for (const later of [false, true])
  t.test(
    `messages are shown with their texts, ${later ? 'opened later' : 'in memory'}`,
    async (t) => {
      const all = [message('m-1'), message('m-2', { tool_call_id: 'call-1' })]
      const list = await listMessages(usesOf(all, later))(
        sessionRef,
        { page: 1, pageSize: 2 },
        linkOf,
      )
      t.match(list, {
        session_id: 's-1',
        messages: [
          { event_id: 'm-1', content: 'text of m-1', tool_call_id: undefined },
          { event_id: 'm-2', content: 'text of m-2', tool_call_id: 'call-1' },
        ],
        total: 2,
      })
      t.match(await getMessage(usesOf(all, later))(sessionRef, 'm-2', linkOf), {
        content: 'text of m-2',
      })
    },
  )

t.test('calls and files are shown with their arguments, names and links', async (t) => {
  const complete = message('m-1', {
    tool_calls: [call('{"a":1}')],
    parts: [{ ...part, name: sealed('a.txt') }, part] as unknown as NonNullable<
      MessageView['parts']
    >,
  })
  const { blob: _, at: __, ...facts } = part
  t.match(await getMessage(usesOf([complete]))(sessionRef, 'm-1', linkOf), {
    content: 'text of m-1',
    tool_calls: [
      { id: 'call-1', type: 'function', function: { name: 'look', arguments: '{"a":1}' } },
    ],
    parts: [
      { ...facts, name: 'a.txt', url: '/files/p-1' },
      { ...facts, url: '/files/p-1' },
    ],
  })
})

t.test('a text whose key is destroyed is empty', async (t) => {
  const uses = { ...usesOf([message('m-1', { tool_calls: [call('{}')] })]), open: () => undefined }
  t.match(await getMessage(uses)(sessionRef, 'm-1', linkOf), {
    content: '',
    tool_calls: [{ function: { arguments: '' } }],
  })
})

t.test('a message of another session or organization is not found', async (t) => {
  const get = getMessage(usesOf([message('m-1'), message('m-2', { session_id: 's-2' })]))
  await t.rejects(get(sessionRef, 'm-2', linkOf), { code: 'message_not_found' })
  await t.rejects(get(sessionRef, 'm-3', linkOf), { code: 'message_not_found' })
  const elsewhere = { ...sessionRef, organizationId: 'org-2' }
  await t.rejects(get(elsewhere, 'm-1', linkOf), { code: 'message_not_found' })
})

t.test('a page ends where texts or arguments come to 8 MB', async (t) => {
  const large = 'x'.repeat(3 * 1024 * 1024)
  const bodies = { texts: { content: sealed(large) }, arguments: { tool_calls: [call(large)] } }
  for (const [title, more] of Object.entries(bodies)) {
    const all = Array.from({ length: 5 }, (_, n) => message(`m-${n}`, more))
    const { messages } = await listMessages(usesOf(all))(
      sessionRef,
      { page: 1, pageSize: 5 },
      linkOf,
    )
    t.ok(messages.length < 5, `${title}: ${messages.length} messages`)
  }
})
