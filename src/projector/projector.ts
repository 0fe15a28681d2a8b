import {
  defer,
  EMPTY,
  exhaustMap,
  type Observable,
  retry,
  Subject,
  type Subscription,
  timer,
} from 'rxjs'
import type { AnyProjection } from '../../projections/projection.ts'
import type { Position } from '../domain/event.ts'
import { UnknownEvent } from '../event-sourcing/codec.ts'
import { type EventReads, START } from '../ports/event-store.ts'
import { type Log, silent } from '../ports/log.ts'
import type { Telemetry } from '../ports/telemetry.ts'
import type { Commit, Views } from '../ports/views.ts'
import { serialQueue } from '../support/serial-queue.ts'
import { batchFolder, type FoldedBatch } from './batch.ts'
import { type Lease, whileLeading } from './leadership.ts'
import { projectorLoop } from './loop.ts'
import { type Progress, rebuild } from './rebuild.ts'
import type { Cursor } from './router.ts'
import { type SetAsideEvent, setAside } from './set-aside.ts'
import { watermarks } from './watermarks.ts'

/**
 * Documents of a read model as a batch left them (undefined: gone), and the position of that batch.
 * `anew`: the read model was rebuilt, and any document may be another.
 */
export type ViewChanges = Pick<Commit, 'view' | 'changes' | 'position'> & { anew?: boolean }

/** How one projection fares; `position` is what it has folded, `error` what stopped it. */
export type ProjectionState = {
  name: string
  position: Position
  state: 'running' | 'stopped'
  error?: unknown
}

type Options = {
  store: EventReads
  views: Views
  projections: readonly AnyProjection[]
  /** Where several nodes share the views, only the holder projects. */
  lease?: Lease
  /** What was set aside before, as it is stored: asked for when this process begins to project. */
  known?: () => Promise<readonly SetAsideEvent[]>
  /** Emits when the stored checkpoints went back: folded documents were lost. */
  renewed?: Observable<unknown>
  /** The log's end moves from time to time only: what is new by then is folded together. */
  gathered?: boolean
  log?: Log
  /** Undefined: nothing is traced. */
  telemetry?: Telemetry | undefined
  /** Milliseconds that only ever grow. */
  now?: () => number
}

const pollMs = 20
/**
 * A node that does not lead reads the checkpoints once in so many polls while no request waits for
 * them.
 */
const idlePolls = 50

/**
 * Feed → batch → fold → views and checkpoint, one batch at a time, all views of a batch in one
 * commit: each event is folded once into each view, also across crashes. What comes in while a
 * batch is under way makes up the next one. A projection that cannot go on stops alone, its
 * checkpoint before the event that stopped it, and is tried again by the next start. Where it met
 * an event of a later release, this process gives the lease up: another node may be of that
 * release.
 */
export const projector = (options: Options) => {
  const { store, views, projections, lease, renewed, log = silent } = options
  const { now = () => performance.now() } = options
  const cursors = projections.map((projection): Cursor => ({ projection, position: START }))
  const marks = watermarks(
    projections.map(({ name }) => name),
    now,
  )
  const aside = setAside([], (event) =>
    log.error(event, 'a stored event cannot be read and was set aside'),
  )
  const fold = batchFolder(projections, aside)
  const serially = serialQueue()
  const changes = new Subject<readonly ViewChanges[]>()
  const stopping = new AbortController()
  const rebuilding = new Set<string>()
  /** Read models that this release cannot fold: for each, the lease is released once. */
  const beyond = new Set<string>()
  const givesUp = new Subject<void>()
  let running: Subscription | undefined
  let leading = () => false

  const done = (outcomes: readonly FoldedBatch[]) => {
    marks.moved(outcomes)
    for (const { cursor, position, error, requestId } of outcomes) {
      if (!error) continue
      const { name } = cursor.projection
      const reqId = requestId === undefined ? {} : { reqId: requestId }
      log.error({ err: error, ...reqId, projection: name, position }, 'a projection has stopped')
      marks.stopped(name)
      if (!(error instanceof UnknownEvent) || beyond.has(name)) continue
      beyond.add(name)
      setImmediate(() => givesUp.next())
    }
    changes.next(outcomes)
  }

  const project = (right: () => boolean) => {
    leading = right
    const { signal } = stopping
    const { telemetry, gathered } = options
    const doing = {
      learn: async () => aside.learn((await options.known?.()) ?? []),
      telemetry,
      gathered,
      store,
      views,
      cursors,
      fold,
      serially,
      leading,
      done,
      log,
      signal,
    }
    return projectorLoop(renewed ? { ...doing, renewed } : doing)
  }

  /** What the holder, wherever it is, has stored. */
  const look = async () => {
    const names = projections.map(({ name }) => name)
    const stored = names.map(async (view) => ({ view, position: await views.checkpoint(view) }))
    marks.moved(await Promise.all(stored))
  }
  const looks = timer(0, pollMs).pipe(
    exhaustMap((n) => (leading() || (n % idlePolls > 0 && !marks.waiting()) ? EMPTY : defer(look))),
    retry({ delay: pollMs * idlePolls }),
  )

  return {
    /**
     * What batches and rebuilds do to documents, as it is stored here; nothing of the time before.
     */
    changes: changes.asObservable(),

    /** Declares the read models and begins; resolves before anything is folded. */
    async start() {
      for (const projection of projections) await views.view(projection)
      running = (
        lease ? whileLeading(lease, { log, givesUp }, project) : project(() => true)
      ).subscribe()
      if (lease) running.add(looks.subscribe())
    },

    /**
     * Read your own writes: true as soon as the named views (all, unless named) have folded a
     * position, false when that takes longer. Views that have stopped are not waited for.
     */
    waitForPosition: marks.waitForPosition,

    /** The position that a view has folded at least, here or where it is projected. */
    at: marks.at,

    /** The position that every view has folded, save those that have stopped. */
    checkpoint: marks.lowest,

    /** From there to the end of the log. */
    lag: async () => store.distance(marks.lowest(), await store.head()),

    /** Whether it is this process that projects. */
    holds: () => leading(),

    state: (): ProjectionState[] =>
      cursors.map(({ projection: { name }, position, error }) =>
        error ? { name, position, state: 'stopped', error } : { name, position, state: 'running' },
      ),

    /**
     * Builds one read model anew beside the live one and swaps; one that had stopped goes on.
     * @throws where this process does not project, and what stops the projection
     */
    async rebuild(name: string, progress: (progress: Progress) => void = () => undefined) {
      const cursor = cursors.find(({ projection }) => projection.name === name)
      if (!cursor) throw new TypeError(`no projection is called ${name}`)
      if (rebuilding.has(name)) throw new Error(`${name} is being rebuilt`)
      const ours = () => {
        if (!leading()) throw new Error('another process projects: rebuild there')
      }
      ours()
      rebuilding.add(name)
      try {
        await rebuild({
          store,
          views,
          projection: cursor.projection,
          signal: stopping.signal,
          serially: (work) =>
            serially(() => {
              ours()
              return work()
            }),
          progress: (step) => {
            ours()
            progress(step)
          },
          swapped: (position) => {
            Object.assign(cursor, { position, error: undefined })
            marks.renewed(name, position)
            changes.next([{ view: name, changes: [], position, anew: true }])
          },
        })
      } finally {
        rebuilding.delete(name)
      }
    },

    /** Finishes the batch in hand, then ends; whoever still waits gets false. */
    async stop() {
      stopping.abort()
      running?.unsubscribe()
      await serially(async () => undefined)
      marks.end()
      changes.complete()
      await lease?.leases.release(lease.name, lease.holder).catch((err) => {
        log.warn({ err, lease: lease.name }, 'a lease was not released and has to run out')
      })
    },
  }
}

export type Projector = ReturnType<typeof projector>

/** A projector as others see it, in this process or elsewhere. */
export type Projecting = Pick<
  Projector,
  'at' | 'waitForPosition' | 'checkpoint' | 'lag' | 'state' | 'rebuild' | 'stop'
> & {
  /** Whether it is this process that projects a read model. */
  holds(name: string): boolean
}
