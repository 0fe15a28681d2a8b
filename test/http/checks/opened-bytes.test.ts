import t from 'tap'
import { user } from '../../support/client.ts'
import { raw } from '../../support/raw.ts'
import { startChat } from '../../support/server.ts'

const mebibyte = 1024 * 1024
const count = 20
/** Sealed, these are a few kilobytes each. */
const texts = Array.from({ length: count }, (_, n) => String(n).padEnd(mebibyte))

t.test('texts that compress: pages and parts are bounded by what is opened', async (t) => {
  const { server, organization, key } = await startChat(t, { text: 'Well.' })
  for (const [n, text] of texts.entries())
    t.equal((await key.chat({ messages: user(text), session_id: `s${n % 2}` })).status, 200)
  const owner = await organization.key({
    type: 'user',
    scopes: ['admin:read', 'sessions:messages'],
  })
  const ask = raw(server.url)
  const headers = { 'x-api-key': owner.key }
  const at = `/api/admin/organizations/${organization.organizationId}`
  const most = 8 * mebibyte + 8 * mebibyte

  t.test('events: has_more is true earlier, and nothing is missed', async (t) => {
    let seen = 0
    let pages = 0
    for (let after = '', more = true; more; pages++) {
      const { body, text } = await ask(
        `${at}/audit/events?type=UserMessageSent&limit=500${after}`,
        {
          headers,
        },
      )
      t.ok(text.length < most, `${text.length} bytes`)
      seen += body.events.length
      after = `&after=${body.next_after}`
      more = body.has_more
    }
    t.equal(seen, count)
    t.ok(pages >= 2)
  })

  t.test('a state: next_after comes earlier', async (t) => {
    const path = `${at}/audit/state?view=messages&limit=500`
    let seen = 0
    let after: string | null = ''
    while (after !== null) {
      const { body, text } = await ask(`${path}&after=${after}`, { headers })
      t.ok(text.length < most, `${text.length} bytes`)
      seen += body.documents.length
      after = body.next_after
    }
    t.equal(seen, 2 * count)
  })

  t.test('messages: a smaller page, from which to go on', async (t) => {
    const seen: string[] = []
    let page = 1
    let size = 200
    for (let more = true; more; page++) {
      const { body } = await key.messages('s0', `?page=${page}&page_size=${size}`)
      t.ok(body.messages.length <= 16)
      for (const { content } of body.messages) seen.push(content)
      page = body.page
      size = body.page_size
      more = body.has_next
    }
    const expected = texts.filter((_, n) => n % 2 === 0).flatMap((text) => [text, 'Well.'])
    t.strictSame(seen, expected)
  })

  t.test('lines have everything', async (t) => {
    const lines = { ...headers, accept: 'application/x-ndjson' }
    for (const [path, total] of [
      ['audit/events?type=UserMessageSent', count],
      ['audit/state?view=messages', 2 * count],
      ['feeds/messages', 2 * count],
    ] as const) {
      const { text, status } = await ask(`${at}/${path}`, { headers: lines })
      t.equal(status, 200)
      t.equal(text.trimEnd().split('\n').length, total, path)
      t.ok(text.length > count * mebibyte)
    }
  })
})
