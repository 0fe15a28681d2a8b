import type { Config } from '../config.ts'
import { systemCall } from '../ports/call.ts'
import { opening } from '../support/disposal.ts'
import { accessPart } from './access.ts'
import { administration } from './administration.ts'
import { isEmptyStore } from './check-keys.ts'
import { seedDemo } from './demo.ts'
import { openEdge } from './edge.ts'
import { type AppOptions, openHost } from './host.ts'
import { housekeeping } from './housekeeping.ts'
import { openMeters } from './meters.ts'
import type { Parts } from './parts.ts'
import { openReading } from './reading.ts'
import { openStorage } from './storage.ts'
import { openTurnEngine, type TurnEngine } from './turn-engine.ts'
import { openWriting, type Writing } from './writing.ts'

/** How long the first start waits until the demo's document can be found. */
const indexedWithinMs = 10_000

/**
 * Fills an empty store with the demo organization. Answers its key and a link to the console, only
 * when it has just been created; its document can be found by then, unless that takes too long.
 */
const createDemo = async (
  { host, storage, writing, reading }: Parts,
  commands: Writing['commands'],
  { knowledge }: TurnEngine,
) => {
  const { load, secrets } = writing
  const demo = await seedDemo({
    isEmptyStore: () => isEmptyStore(storage.stores.events),
    load,
    clock: host.clock,
    hashEmail: secrets.hashEmail,
    createOrganization: commands.createOrganization,
    createAgent: commands.createAgent,
    changeAgent: commands.changeAgent,
    createApiKey: commands.createApiKey,
    createDatastore: commands.createDatastore,
    uploadAndEnqueue: knowledge.uploadAndEnqueue,
  })
  if (!demo) return undefined
  await reading.waitForPosition(demo.position)
  await knowledge.indexed(indexedWithinMs)
  const { organizationId, userId, keyId, key } = demo
  const call = { ...systemCall('demo', host.clock.now(), organizationId), userId }
  const { token } = await commands.createWelcomeLink({ organizationId, userId, keyId }, call)
  return { organizationId, key, welcomePath: `/console/welcome/${token}` }
}

/**
 * The composition root: stores → commands → projections → queries → HTTP, wired once, and closed in
 * reverse. Nothing listens yet.
 * @throws StoreInUse, StoreFormat, StoreDamaged, StoreUnavailable, KeysMismatch, ConfigInvalid,
 * ModelMisconfigured
 */
export const app = (config: Config, options: AppOptions) =>
  opening(async (opened) => {
    const host = opened.use(await openHost(config, options))
    const storage = opened.use(await openStorage(host))
    const writing = opened.use(await openWriting(host, storage))
    const reading = opened.use(await openReading(host, storage, writing))
    const access = opened.use(accessPart({ host, storage, writing, reading }))
    const meters = opened.use(await openMeters(host, writing))
    const parts: Parts = { host, storage, writing, reading, access, meters }
    const engine = opened.use(await openTurnEngine(parts, () => expireApprovals()))
    const { http } = opened.use(await openEdge(parts, engine, administration(parts, engine)))
    const { tick, recover, expireApprovals } = housekeeping(parts, engine)

    return {
      http,
      waitForPosition: reading.waitForPosition,
      /** The model of agents that name none. */
      defaultModel: writing.models.byDefault,
      demo: () => createDemo(parts, writing.commands, engine),
      async recover() {
        await recover()
        engine.approvals.start()
      },
      tick,
    }
  })

export type App = Awaited<ReturnType<typeof app>>
