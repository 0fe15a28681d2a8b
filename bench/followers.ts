import { setTimeout as after } from 'node:timers/promises'
import { Pool } from 'undici'
import type { Section } from './bench.ts'
import { chatRequest, productWith } from './contenders.ts'
import type { Serving } from './processes.ts'
import { steady } from './steady.ts'

const count = 1_000
const chatsPerSecond = 15
const platformKey = 'the-key-of-the-platform-in-a-benchmark'

/** Opens a feed so many times, over HTTP; answers how many items have come, and how to leave. */
const followed = async ({ url }: Serving, path: string) => {
  const pool = new Pool(url, { connections: count })
  let items = 0
  let open = 0
  const follow = async () => {
    const { statusCode, body } = await pool.request({
      method: 'GET',
      path,
      headers: { 'x-api-key': platformKey },
    })
    if (statusCode !== 200) throw new Error(`a feed was refused with ${statusCode}`)
    open++
    for await (const piece of body) items += String(piece).split('data: ').length - 1
  }
  const all = Array.from({ length: count }, () => follow().catch(() => undefined))
  while (open < count) await after(20)
  return {
    items: () => items,
    async leave() {
      await pool.destroy()
      await Promise.all(all)
    },
  }
}

/** What a thousand who follow an organization's sessions cost those who chat in it. */
export const benchFollowers: Section = async (place) => {
  const { product, tenants } = await productWith(place, {
    name: 'followers',
    env: { SUPER_ADMIN_KEY: platformKey },
  })
  try {
    const [tenant] = tenants
    if (!tenant) throw new Error('there is nobody to follow')
    const chats = [chatRequest(tenant)]
    await steady(product, chats, chatsPerSecond)
    const alone = await steady(product, chats, chatsPerSecond)
    const path = `/api/admin/organizations/${tenant.organizationId}/feeds/sessions?snapshot=false`
    const followers = await followed(product, path)
    const watched = await steady(product, chats, chatsPerSecond)
    const items = followers.items()
    await followers.leave()
    const name = `chat, ${chatsPerSecond} a second, ${count} following`
    return [
      {
        name: `${name}, p50`,
        value: watched.p50,
        unit: 'ms',
        against: { name: 'nobody following', value: alone.p50 },
      },
      {
        name: `${name}, p99`,
        value: watched.p99,
        unit: 'ms',
        against: { name: 'nobody following', value: alone.p99 },
      },
      { name: `items they were told in 5 s`, value: items, unit: 'items' },
    ]
  } finally {
    await product.stop()
  }
}
