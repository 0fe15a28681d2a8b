import { type ClientRequest, request } from 'node:http'
import { rounds } from '../../support/rounds.ts'
import { type Attack, expect } from '../../support/under-attack.ts'
import { unreadReply } from '../../support/unread-reply.ts'

const keys = rounds(1, 4)
const streamsOfKey = 100

/** Feeds by the hundred that are opened and not read, of agents that change all the time. */
export const unreadFeeds: Attack = async (server) => {
  const organization = await server.platform.organization({ credits: 1_000_000 })
  const at = `/organizations/${organization.organizationId}`
  const instructions = 'Be brief. '.repeat(5_000)
  const agents: string[] = []
  for (let n = 0; n < 20; n++)
    agents.push(await organization.agent({ name: `Agent ${n}`, instruction: instructions }))
  const followers: string[] = []
  for (let n = 0; n < keys; n++)
    followers.push((await organization.key({ type: 'user', scopes: ['admin:read'] })).key)
  return async () => {
    const url = new URL(`/api/admin${at}/feeds/agents`, server.url)
    const open: ClientRequest[] = []
    const follow = async (key: string) => {
      const feedRequest = request(url, { headers: { 'x-api-key': key }, agent: false })
      open.push(feedRequest.end())
      const reply = await unreadReply(feedRequest)
      if (reply) expect({ status: reply.statusCode ?? 0 }, 200, 429)
    }
    for (const key of followers)
      await Promise.all(Array.from({ length: streamsOfKey }, () => follow(key)))
    for (const [n, agent] of agents.entries())
      await server.platform.ask('PATCH', `${at}/agents/${agent}`, { description: `The ${n}th` })
    for (const connection of open) connection.destroy()
  }
}
