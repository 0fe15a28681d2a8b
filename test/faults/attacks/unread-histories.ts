import { type ClientRequest, request } from 'node:http'
import { rounds } from '../../support/rounds.ts'
import { type Attack, expect } from '../../support/under-attack.ts'
import { firstEvent, unreadReply } from '../../support/unread-reply.ts'

const messages = 20
const content = 'Be brief. '.repeat(90_000)
const keys = rounds(1, 2)
const streamsOfKey = 100
/** The changes since the beginning, and the present state as a stream and as lines. */
const kinds = [
  { query: '?after=0', accept: 'text/event-stream' },
  { query: '', accept: 'text/event-stream' },
  { query: '', accept: 'application/x-ndjson' },
]

/** Feeds of all there is by the hundred, unread, of messages that compress to almost nothing. */
export const unreadHistories: Attack = async (server) => {
  const organization = await server.platform.organization({ credits: 1_000_000 })
  const author = await organization.key()
  for (let n = 0; n < messages; n++)
    expect(await author.chat({ messages: [{ role: 'user', content }] }), 200)
  const followers: string[] = []
  for (let n = 0; n < keys; n++)
    followers.push((await organization.key({ type: 'user', scopes: ['admin:read'] })).key)
  return async () => {
    const at = `/api/admin/organizations/${organization.organizationId}/feeds/messages`
    const open: ClientRequest[] = []
    const follow = async (key: string, { query, accept }: (typeof kinds)[number]) => {
      const historyRequest = request(new URL(`${at}${query}`, server.url), {
        headers: { 'x-api-key': key, accept },
        agent: false,
      })
      open.push(historyRequest.end())
      // A client whose connection was closed can follow again.
      const reply = await unreadReply(historyRequest)
      if (!reply) return
      expect({ status: reply.statusCode ?? 0 }, 200, 429)
      await firstEvent(reply, 'readable', 'end', 'close')
    }
    for (const key of followers)
      for (const kind of kinds)
        await Promise.all(Array.from({ length: streamsOfKey }, () => follow(key, kind)))
    for (const connection of open) connection.destroy()
  }
}
