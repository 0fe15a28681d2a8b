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

/** The longest that the event loop was kept since this was asked last, in milliseconds of CPU time. */
const keptBy = async ({ child }: Serving): Promise<number> => {
  const answer = once(child, 'message')
  child.send('kept')
  const [longest] = await answer
  return longest
}

/** Those who chat alone, then with a thousand who have just come to follow. */
const bothWays = async (server: Serving, chats: readonly Request[], path: string) => {
  await steady(server, chats, chatsPerSecond)
  await keptBy(server)
  const alone = await steady(server, chats, chatsPerSecond, runMs)
  const keptAlone = await keptBy(server)
  const followers = await followed(server, path)
  await followers.told()
  const keptComing = await keptBy(server)
  const watched = await steady(server, chats, chatsPerSecond, runMs)
  const told = await followers.told()
  const keptWatched = await keptBy(server)
  await followers.leave()
  await pause(leaveMs)
  const keptLeaving = await keptBy(server)
  return { alone, watched, told, keptAlone, keptComing, keptWatched, keptLeaving }
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
    const chats = tenants.map((one) => chatRequest(one))
    const path = `/api/admin/organizations/${tenant.organizationId}/feeds/sessions?snapshot=false`
    const ours = await bothWays(product, chats, path)
    const { alone, watched, told } = ours
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
          ['keptWatched', `${count} following`],
          ['keptComing', `${count} coming at once`],
          ['keptLeaving', `${count} leaving at once`],
          ['keptAlone', 'nobody following'],
        ] as const
      ).map(([kept, when]) => ({
        name: `longest that the event loop was kept, ${when}`,
        value: ours[kept],
        unit: 'ms of CPU',
        against: { name: 'bare fastify', value: floor[kept] },
      })),
      { name: 'items that each was told', value: told.items, unit: 'items' },
      { name: 'writes in which they came', value: told.writes, unit: 'writes' },
    ]
  } finally {
    await product.stop()
  }
}
