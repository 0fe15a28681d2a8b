import { createSecretKey } from 'node:crypto'
import { mkdir, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { getHeapStatistics } from 'node:v8'
import { projectionsAt } from '../../projections/all.ts'
import { openDiskSpace } from '../adapters/embedded/disk-space.ts'
import { holdAlone } from '../adapters/embedded/lock.ts'
import { logFollower } from '../adapters/embedded/log-follower.ts'
import { latest, type Position } from '../domain/event.ts'
import type { Damage } from '../ports/damage.ts'
import { START, StoreDamaged, StoreUnavailable } from '../ports/event-store.ts'
import { type Log, silent } from '../ports/log.ts'
import { projector } from '../projector/projector.ts'
import type { Progress } from '../projector/rebuild.ts'
import { secretsOf } from '../security/secrets.ts'
import { vault as vaultOf } from '../security/vault.ts'
import { type Ring, type Rings, wrappedKeys } from '../security/wrapped-keys.ts'
import { deferred } from '../support/deferred.ts'
import { opening } from '../support/disposal.ts'
import { serveCalls } from '../support/port-calls.ts'
import { auditReads } from './audit-reads.ts'
import { embeddedReads } from './embedded-reads.ts'
import { type PackedError, packedError } from './packed-errors.ts'
import { laterFolder, laterViewsOf, logFolder } from './read-models.ts'

/** The keys that open data keys. */
export type PlainRing = { wrap: Uint8Array; other?: Uint8Array | undefined }

/** What the process needs to start. */
export type LaterSetup = {
  dataDir: string
  /** Bytes that stay free on its disk. */
  reserve: number
  /** The installation's secret. */
  secret: Uint8Array
  ring: PlainRing
  head: Position
  /** The views are folded anew: with those that are there no process could live. */
  fresh: boolean
}

/** How each read model fares there. */
export type LaterState = { name: string; position: Position; error?: PackedError }

/** What it tells by itself. */
export type LaterMessage =
  | { up: true }
  /** A data key does not open: the master key may have been replaced. */
  | { wants: 'ring' }
  | { states: LaterState[]; damage: readonly Damage[] }
  | { log: 'info' | 'warn' | 'error'; fields: Record<string, unknown>; text: string }

type PositionWait = { position: Position; timeoutMs: number; views: readonly string[] }

/** How many questions are worked on at once, and how many streams may be open. */
const places = 4
const mostStreams = 4_096
/** How long another process, of a server that has just died, may still hold the folder. */
const heldMs = 10_000
/** How often it tells how far it is. */
const tellMs = 250
/** How long what gathered may be folded when it ends. */
const lastMs = 2_000
/** How long other keys are waited for. */
const ringMs = 2_000
/** How much of the heap may be used before states that are read into it are refused. */
const tightShare = 0.7

const viewsFiles = ['data.mdb', 'lock.mdb', 'mark.json', 'check-pending']

const send = (message: LaterMessage) => process.send?.(message)

const isUsed = (share: number): boolean => {
  const { used_heap_size: used, heap_size_limit: most } = getHeapStatistics()
  return used > share * most
}

/** Whether the heap is nearly full with what is in use. */
const isTight = (): boolean => {
  if (!isUsed(tightShare)) return false
  globalThis.gc?.()
  return isUsed(tightShare)
}

const plain = (fields: object): Record<string, unknown> =>
  Object.fromEntries(
    Object.entries(fields).map(([name, value]) => [
      name,
      value instanceof Error ? packedError(value) : value,
    ]),
  )

const log: Log = {
  info: (fields, text) => send({ log: 'info', fields: plain(fields), text }),
  warn: (fields, text) => send({ log: 'warn', fields: plain(fields), text }),
  error: (fields, text) => send({ log: 'error', fields: plain(fields), text }),
}

const ringOf = ({ wrap, other }: PlainRing): Ring => ({
  wrap: createSecretKey(wrap),
  ...(other ? { other: createSecretKey(other) } : {}),
})

const ownerOf = (query: unknown): string =>
  typeof query === 'object' && query !== null && 'organizationId' in query
    ? String(query.organizationId)
    : ''

/** The key store, for reading alone. */
const readOnly = async (): Promise<never> => {
  throw new StoreUnavailable('keys are made and destroyed where the server is')
}

/** Holds a folder once whoever held it has ended. @throws StoreInUse */
const heldAlone = async (folder: string): Promise<() => void> => {
  for (const until = performance.now() + heldMs; ; )
    try {
      return await holdAlone(folder)
    } catch (error) {
      if (performance.now() > until) throw error
    }
}

/** The progress of a rebuild, as it comes; ends or fails with it. */
async function* progressOf(
  rebuild: (progress: (progress: Progress) => void) => Promise<void>,
): AsyncGenerator<Progress> {
  let last: Progress | undefined
  let isDone = false
  let wake = () => {}
  const done = rebuild((progress) => {
    last = progress
    wake()
  }).finally(() => {
    isDone = true
    wake()
  })
  done.catch(() => undefined)
  while (!isDone) {
    await new Promise<void>((resolve) => {
      wake = resolve
    })
    const progress = last
    last = undefined
    if (progress) yield progress
  }
  await done
}

/** The master keys, as the serving process sends them; it is asked for newer ones. */
const receivedRings = (first: PlainRing) => {
  let ring = ringOf(first)
  let renewed = deferred<void>()
  const rings: Rings = {
    now: () => ring,
    isFresh: () => true,
    async refresh() {
      send({ wants: 'ring' })
      await Promise.race([renewed.promise, pause(ringMs, undefined, { ref: false })])
    },
  }
  const renew = (next: PlainRing) => {
    ring = ringOf(next)
    renewed.resolve()
    renewed = deferred()
  }
  return { rings, renew }
}

/** The log of the serving process, and the damage that was found in it. */
const openLog = ({ dataDir, head }: LaterSetup) => {
  let damage: readonly Damage[] = []
  const follower = logFollower({
    path: join(dataDir, logFolder),
    head,
    onDamage: (places) => {
      damage = places
    },
  })
  return { follower, damage: () => damage, close: follower.close }
}

/** The views of this process, in a folder that it alone holds. */
const openViews = ({ dataDir, reserve, fresh }: LaterSetup) =>
  opening(async (opened) => {
    const folder = join(dataDir, laterFolder)
    await mkdir(folder, { recursive: true, mode: 0o700 })
    opened.add(await heldAlone(folder))
    if (fresh) for (const file of viewsFiles) await rm(join(folder, file), { force: true })
    // The serving process logs the state of its disk.
    const space = openDiskSpace({ folder, reserve, log: silent })
    return opened.use(await embeddedReads(folder, log, { space }))
  })

const open = (setup: LaterSetup) =>
  opening(async (opened) => {
    const { follower, damage: logDamage } = opened.use(openLog(setup))
    const { views, snapshots, renewed, damage: viewsDamage } = opened.use(await openViews(setup))
    const { rings, renew } = receivedRings(setup.ring)
    const stored = { ...follower.keys, create: readOnly, destroy: readOnly, rewrap: readOnly }
    const vault = vaultOf({ keys: wrappedKeys(stored, rings) })
    const { events } = follower
    const projections = projectionsAt('later')
    const folding = { store: events, views, projections, renewed, gathered: true, log }
    const projecting = projector(folding)
    opened.add(projecting.stop)
    await projecting.start()
    const reads = auditReads({
      events,
      views: await laterViewsOf(views),
      snapshots,
      projecting,
      logKeySeed: secretsOf(setup.secret).logKeySeed,
      open: vault.open,
      // The serving process has waited for it before it asks.
      timePassed: async () => undefined,
      isTight,
    })
    const damage = () => [...logDamage(), ...viewsDamage()]
    return { follower, views, projecting, reads, damage, forget: vault.forget, renew }
  })

/** Reports the state of the read models and the damage, if it has changed. */
const stateReporter = ({ projecting, damage }: Awaited<ReturnType<typeof open>>) => {
  let reported = ''
  return (): void => {
    const states = projecting.state().map(({ name, position, error }) => ({
      name,
      position,
      ...(error === undefined ? {} : { error: packedError(error) }),
    }))
    const places = damage()
    const text = JSON.stringify([states, places])
    if (text !== reported) send({ states, damage: places })
    reported = text
  }
}

const serve = async (setup: LaterSetup): Promise<void> => {
  const part = await open(setup)
  const { follower, views, projecting, reads, forget, renew, close } = part
  const reportStates = stateReporter(part)
  setInterval(reportStates, tellMs)

  /** Reports damage to readiness before the answer that hit it arrives. */
  const packed = (error: unknown): PackedError => {
    if (error instanceof StoreDamaged) reportStates()
    return packedError(error)
  }

  const announce = async ({ head }: { head: Position }) => follower.announce(head)

  const waitForPosition = async ({ position, timeoutMs, views }: PositionWait) => {
    follower.announce(position)
    const passed = await projecting.waitForPosition(position, timeoutMs, views)
    reportStates()
    return passed
  }

  serveCalls({
    port: {
      postMessage: (message) => process.send?.(message),
      on: (listener) => process.on('message', listener),
    },
    notes: {
      announce,
      waitForPosition,
      forget: async ({ name }: { name: string }) => forget(name),
      load: ({ view, ids }: { view: string; ids: readonly string[] }) => views.load(view, ids),
      ring: async (next: PlainRing) => renew(next),
      checkpoint: ({ view }: { view: string }) => views.checkpoint(view),
      version: ({ view }: { view: string }) => views.version(view),
      async close({ head }: { head: Position }) {
        await waitForPosition({
          position: latest(START, head),
          timeoutMs: lastMs,
          views: projecting.state().map(({ name }) => name),
        })
        await close()
        setImmediate(() => process.exit())
      },
    },
    answers: reads.answers,
    streams: {
      ...reads.streams,
      rebuild: async ({ view }: { view: string }) => ({
        head: undefined,
        parts: progressOf((progress) => projecting.rebuild(view, progress)),
      }),
    },
    places,
    mostStreams,
    ownerOf,
    packed,
    tooMany: () => new StoreUnavailable('too many long reads are open'),
  })
  send({ up: true })
}

// It ends with the server, also when that is killed.
process.once('disconnect', () => process.exit())
process.once('message', (setup: LaterSetup) => {
  serve(setup).catch((err) => {
    log.error({ err }, 'the process for audits could not start')
    process.disconnect?.()
  })
})
