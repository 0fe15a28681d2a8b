import t from 'tap'
import { user } from '../support/client.ts'
import { eventually } from '../support/eventually.ts'
import { rounds } from '../support/rounds.ts'
import { startServer } from '../support/server.ts'

// Several lives of a server, each of some seconds.
t.setTimeout(300_000)

/** A text that does not compress. */
const noise = (length: number): string => {
  let text = ''
  while (text.length < length) text += crypto.randomUUID()
  return text.slice(0, length)
}

t.test('kill -9 amid a fork: it is whole after the restart, or was never begun', async (t) => {
  const server = await startServer(t)
  const organization = await server.platform.organization()
  const { key } = await organization.key()
  const expected: string[] = []
  for (let n = 0; n < 8; n++) {
    const content = noise(500_000)
    await server.as(key).chat({ messages: user(content), session_id: 'long' })
    const { body } = await server.as(key).messages('long', `?page=${2 * n + 2}&page_size=1`)
    expected.push(content, body.messages[0].content)
  }
  const path = `/organizations/${organization.organizationId}/audit/events?limit=500&type=`
  const count = async (type: string): Promise<number> =>
    (await server.platform.ask('GET', `${path}${type}`)).events.length

  let cut = 0
  const kinds = rounds(3, 8)
  for (let round = 0; round < kinds; round++) {
    const session_id = `fork-${round}`
    const began = await count('ForkBegun')
    const headers = { 'idempotency-key': session_id }
    const fork = server
      .as(key)
      .ask('POST', '/api/external/sessions/long/fork', { session_id }, { headers })
      .catch(() => undefined)
    if (round > 0) await eventually(async () => (await count('ForkBegun')) > began)
    await server.kill9()
    const forkReply = await fork
    await server.restart()
    const session = await server.as(key).ask('GET', `/api/external/sessions/${session_id}`)
    if (!forkReply && session.status === 200) cut++
    if (forkReply || round > 0)
      t.equal(session.status, 200, 'what was begun is finished at the start')
    const { status } = await server
      .as(key)
      .ask('POST', '/api/external/sessions/long/fork', { session_id }, { headers })
    t.equal(status, 201, 'the same request again: the same fork')
    const { body } = await server.as(key).messages(session_id, '?page_size=1')
    t.equal(body.total, expected.length, 'each message once')
    const texts: string[] = []
    for (let page = 1; page <= expected.length; page++) {
      const listing = await server.as(key).messages(session_id, `?page=${page}&page_size=1`)
      texts.push(listing.body.messages[0].content)
    }
    t.ok(JSON.stringify(texts) === JSON.stringify(expected), 'in order, as they were')
  }
  t.comment(`${cut} of ${kinds} forks were cut off`)
  t.equal(await count('SessionForked'), kinds)
  const next = await server.as(key).chat({ messages: user('Next'), session_id: 'fork-0' })
  t.equal(next.status, 200, 'a fork goes on')
})
