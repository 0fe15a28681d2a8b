import { once } from 'node:events'
import type { Section } from './bench.ts'
import { chatRequest, productWith } from './contenders.ts'
import { launch, loadCore, type Serving } from './processes.ts'
import { steady } from './steady.ts'

const count = 1_000
const chatsPerSecond = 15
const platformKey = 'the-key-of-the-platform-in-a-benchmark'

type Told = { writes: number; items: number }

/** Those who follow a feed, in a process of their own; `told` is what each got since it was asked last. */
const followed = async ({ url }: Serving, path: string) => {
  const child = launch({
    script: 'following.js',
    env: { FEED_URL: `${url}${path}`, FEED_KEY: platformKey, FOLLOWERS: `${count}` },
    core: loadCore,
    listening: true,
  })
  const said = async (): Promise<Told> => {
    const [told] = await once(child, 'message')
    return told
  }
  await Promise.race([
    said(),
    once(child, 'exit').then(() => Promise.reject(new Error('nobody follows'))),
  ])
  return {
    told(): Promise<Told> {
      const told = said()
      child.send('told')
      return told
    },
    async leave() {
      const ended = once(child, 'exit')
      child.disconnect()
      await ended
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
    await followers.told()
    const watched = await steady(product, chats, chatsPerSecond)
    const { writes, items } = await followers.told()
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
        aim: { most: 1.5 },
      },
      { name: 'items that each was told', value: items, unit: 'items' },
      { name: 'writes in which they came', value: writes, unit: 'writes' },
    ]
  } finally {
    await product.stop()
  }
}
