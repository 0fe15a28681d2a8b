import { type ClientRequest, request } from 'node:http'
import { rounds } from '../../support/rounds.ts'
import { type Attack, expect } from '../../support/under-attack.ts'
import { firstEvent, unreadReply } from '../../support/unread-reply.ts'

const messages = 20
const content = 'Be brief. '.repeat(90_000)
const keys = rounds(1, 2)
const streamsOfKey = 100

/** Feeds from the beginning by the hundred, unread, of messages that compress to almost nothing. */
export const unreadHistories: Attack = async (server) => {
  const organization = await server.platform.organization({ credits: 1_000_000 })
  const author = await organization.key()
  for (let n = 0; n < messages; n++)
    expect(await author.chat({ messages: [{ role: 'user', content }] }), 200)
  const followers: string[] = []
  for (let n = 0; n < keys; n++)
    followers.push((await organization.key({ type: 'user', scopes: ['admin:read'] })).key)
  return async () => {
    const at = `/api/admin/organizations/${organization.organizationId}/feeds/messages?after=0`
    const open: ClientRequest[] = []
    const follow = async (key: string) => {
      const asked = request(new URL(at, server.url), {
        headers: { 'x-api-key': key },
        agent: false,
      })
      open.push(asked.end())
      // A client whose connection was closed can follow again.
      const reply = await unreadReply(asked)
      if (!reply) return
      expect({ status: reply.statusCode ?? 0 }, 200, 429)
      await firstEvent(reply, 'readable', 'end', 'close')
    }
    for (const key of followers)
      await Promise.all(Array.from({ length: streamsOfKey }, () => follow(key)))
    for (const one of open) one.destroy()
  }
}
