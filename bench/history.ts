import { setMaxListeners } from 'node:events'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { projections, readModels } from '../projections/all.ts'
import { opener } from '../queries/opened.ts'
import { readHistory } from '../queries/read-history.ts'
import { laterViewsOf } from '../src/app/read-models.ts'
import { feedHistory } from '../src/feeds/feed-history.ts'
import { feeds } from '../src/feeds/feeds.ts'
import { projector } from '../src/projector/projector.ts'
import { temporalQuery } from '../src/projector/temporal-query.ts'
import { bufferBudget } from '../src/support/buffer-budget.ts'
import type { Section } from './bench.ts'
import { type Measured, percentile } from './measured.ts'
import { storeSessions } from './sessions.ts'
import { makeTenants, openWriting, platformCall } from './tenants.ts'

const sizes = [1_000, 10_000, 100_000, 1_000_000]
const subscribers = [1, 100, 1_000]
const turns = 3
/** 6 events a turn, and one more for the session. */
const perSession = 6 * turns + 1
const changes = 100
const everyMs = 20

/** An organization's history, and what reads it. */
const opened = async (dataDir: string, sessions: number) => {
  const writing = await openWriting(dataDir)
  const [tenant] = await makeTenants(writing, 1)
  if (!tenant) throw new Error('nobody to measure')
  await storeSessions(writing, [tenant], sessions, () => turns)
  const { events: store, views, snapshots, vault } = writing
  const projecting = projector({ store, views, projections })
  const { eventIndex } = await laterViewsOf(views)
  await projecting.start()
  await projecting.waitForPosition(await store.head(), 600_000)
  const history = readHistory({ store, eventIndex, indexed: () => projecting.at('event_index') })
  const states = temporalQuery({ readHistory: history, snapshots, version: 1 })
  const modelOf = (name: string) => {
    const model = readModels.get(name)
    if (!model) throw new Error(`no ${name}`)
    return model
  }
  const following = feeds({
    store,
    views,
    at: projecting.at,
    waitForPosition: projecting.waitForPosition,
    history: feedHistory({
      read: store.read,
      readHistory: history,
      stateAt: states,
      opened: opener(vault.open).document,
    }),
    head: store.head,
    end: store.end,
    opened: opener(vault.open).document,
    buffers: bufferBudget(Number.POSITIVE_INFINITY),
  })
  const close = async () => {
    following.close()
    await projecting.stop()
    await writing.close()
  }
  return { writing, tenant, states, modelOf, following, head: store.head, close }
}

/** Milliseconds that a state takes: folded for the first time, then with what that has kept. */
const asOf = async (dataDir: string, size: number): Promise<Measured[]> => {
  const { tenant, states, modelOf, head, close } = await opened(dataDir, size / perSession)
  const upTo = await head()
  const sessions = modelOf('sessions')
  const measured: Measured[] = []
  for (const how of ['first', 'again']) {
    const startedAt = performance.now()
    await states(tenant.organizationId, sessions, upTo)
    const value = performance.now() - startedAt
    measured.push({ name: `sessions as of ${size} events, ${how}`, value, unit: 'ms' })
  }
  await close()
  return measured
}

/** From an append to its item at a follower, over all followers, in this process. */
const fanOut = async (dataDir: string, count: number): Promise<Measured> => {
  const { writing, tenant, modelOf, following, close } = await opened(dataDir, 1)
  const { organizationId } = tenant
  const sent = new Map<string, number>()
  const lags: number[] = []
  const leaving = new AbortController()
  setMaxListeners(0, leaving.signal)
  const feed = {
    organizationId,
    model: modelOf('organizations'),
    after: undefined,
    snapshot: true,
  }
  let ready = 0
  const follow = async () => {
    let isReady = false
    for await (const { items } of following.follow(feed, leaving.signal, () => leaving.abort())) {
      if (!isReady) ready++
      isReady = true
      for (const { text } of items) {
        const at = sent.get(JSON.parse(text).document.name)
        if (at !== undefined) lags.push(performance.now() - at)
      }
    }
  }
  const all = Promise.all(Array.from({ length: count }, follow))
  while (ready < count) await pause(10)
  await pause(500)
  for (let n = 0; n < changes; n++) {
    const name = `Name ${n}`
    sent.set(name, performance.now())
    await writing.commands.renameOrganization({ name }, { ...platformCall(), organizationId })
    await pause(everyMs)
  }
  await pause(1_000)
  leaving.abort()
  await all
  await close()
  const name = `feed lag at ${count} subscribers, in process, p99`
  return { name, value: percentile(lags, 0.99), unit: 'ms' }
}

/** How an organization was, and what changes in it: how long each is waited for. */
export const benchHistory: Section = async ({ dir }) => {
  const measured: Measured[] = []
  for (const size of sizes) measured.push(...(await asOf(join(dir, `as-of-${size}`), size)))
  for (const count of subscribers) measured.push(await fanOut(join(dir, `feed-${count}`), count))
  return measured
}
