import { once } from 'node:events'
import { setTimeout as pause } from 'node:timers/promises'
import type { Request } from 'autocannon'
import type { Section } from './bench.ts'
import { chatRequest, productWith } from './contenders.ts'
import { launch, loadCore, type Serving, serve } from './processes.ts'
import { steady } from './steady.ts'
import { makeKeys } from './tenants.ts'

const count = 1_000
const chatsPerSecond = 15
/** 375 chats: with a few, the slowest of them alone would decide. */
const runMs = 25_000
/** So many that the chats of a minute are within the limit of each. */
const keys = 8
const preload = 'counting/loop-kept.js'
/** For connections to be closed. */
const leaveMs = 1_000
const platformKey = 'the-key-of-the-platform-in-a-benchmark'

type Delivery = { writes: number; items: number }

/** Followers of a feed, in another process; `delivery` is the average since the previous call. */
const followed = async ({ url }: Serving, path: string) => {
  const child = launch({
    script: 'following.js',
    env: { FEED_URL: `${url}${path}`, FEED_KEY: platformKey, FOLLOWERS: `${count}` },
    core: loadCore,
    listening: true,
  })
  const nextDelivery = async (): Promise<Delivery> => {
    const [delivery] = await once(child, 'message')
    return delivery
  }
  await Promise.race([
    nextDelivery(),
    once(child, 'exit').then(() => Promise.reject(new Error('nobody follows'))),
  ])
  return {
    delivery(): Promise<Delivery> {
      const delivery = nextDelivery()
      child.send('delivery')
      return delivery
    },
    async leave() {
      const exit = once(child, 'exit')
      child.disconnect()
      await exit
    },
  }
}

/** The longest turn of the event loop since the previous call, in milliseconds of CPU time. */
const longestTurn = async ({ child }: Serving): Promise<number> => {
  const answer = once(child, 'message')
  child.send('longest')
  const [longest] = await answer
  return longest
}

/** Those who chat alone, then with a thousand who have just come to follow. */
const bothWays = async (server: Serving, chats: readonly Request[], path: string) => {
  await steady(server, chats, chatsPerSecond)
  await longestTurn(server)
  const alone = await steady(server, chats, chatsPerSecond, runMs)
  const longestAlone = await longestTurn(server)
  const followers = await followed(server, path)
  await followers.delivery()
  const longestComing = await longestTurn(server)
  const watched = await steady(server, chats, chatsPerSecond, runMs)
  const delivery = await followers.delivery()
  const longestWatched = await longestTurn(server)
  await followers.leave()
  await pause(leaveMs)
  const longestLeaving = await longestTurn(server)
  return { alone, watched, delivery, longestAlone, longestComing, longestWatched, longestLeaving }
}

const onBareFastify = async (chats: readonly Request[]) => {
  const bare = await serve({ script: 'baselines/bare-feed.js', listening: true, preload })
  try {
    return await bothWays(bare, chats, '/feed')
  } finally {
    await bare.stop()
  }
}

/** What a thousand who follow an organization's sessions cost those who chat in it. */
export const benchFollowers: Section = async (place) => {
  const { product, tenants } = await productWith(place, {
    name: 'followers',
    env: { SUPER_ADMIN_KEY: platformKey },
    preload,
    prepare: async (writing, [tenant]) => {
      if (!tenant) throw new Error('there is nobody to follow')
      return makeKeys(writing, tenant, keys)
    },
  })
  try {
    const [tenant] = tenants
    if (!tenant) throw new Error('there is nobody to follow')
    const chats = tenants.map((client) => chatRequest(client))
    const path = `/api/admin/organizations/${tenant.organizationId}/feeds/sessions?snapshot=false`
    const ours = await bothWays(product, chats, path)
    const { alone, watched, delivery } = ours
    await product.stop()
    const floor = await onBareFastify(chats)
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
      {
        name: 'the same on bare fastify, p99',
        value: floor.watched.p99,
        unit: 'ms',
        against: { name: 'nobody following', value: floor.alone.p99 },
      },
      ...(
        [
          ['longestWatched', `${count} following`],
          ['longestComing', `${count} coming at once`],
          ['longestLeaving', `${count} leaving at once`],
          ['longestAlone', 'nobody following'],
        ] as const
      ).map(([period, when]) => ({
        name: `longest that the event loop was kept, ${when}`,
        value: ours[period],
        unit: 'ms of CPU',
        against: { name: 'bare fastify', value: floor[period] },
      })),
      { name: 'items that each was told', value: delivery.items, unit: 'items' },
      { name: 'writes in which they came', value: delivery.writes, unit: 'writes' },
    ]
  } finally {
    await product.stop()
  }
}
