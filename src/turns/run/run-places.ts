import { type Refusal, refusal } from '../../domain/refusal.ts'
import type { Clock } from '../../ports/clock.ts'

/**
 * How many background runs of an organization may be queued (docs/contract/limits.md#runs-at-once).
 */
export const mostQueued = 100

/** The payer and organization that runs count for, with their limit. */
export type Payer = { organizationId: string; payerId: string; limit: number }

/** The place of one run among those of its payer. */
export type RunPlace = {
  /** Whether the run is queued behind all others. */
  isQueued(): boolean
  /** Takes the place, if there is one. */
  tryEnter(): boolean
  /** Waits for the place; false if the wait was cancelled. */
  enter(): Promise<boolean>
  /** Cancels the wait. */
  abandon(): void
  /** Releases the place, after the run or instead of it. */
  leave(): void
}

type Kind = 'admitted' | 'queued'
type Waiting = { kind: Kind; resolve(entered: boolean): void }

/**
 * `admitted`: counted runs, running or waiting for their session. `waiting`: admitted and resumed
 * runs first, then queued ones, each in order of arrival.
 */
type Owner = {
  limit: number
  places: number
  running: number
  admitted: number
  waiting: Waiting[]
}

export const tooManyRuns = (limit: number, now: Date): Refusal =>
  refusal('rate_limit_exceeded', {
    message: `Too many runs at once: at most ${limit} are allowed`,
    limit,
    window: 'concurrent',
    resetAt: Math.ceil(now.getTime() / 1000) + 1,
    retryAfter: 1,
  })

const tooManyQueued = (now: Date): Refusal =>
  refusal('rate_limit_exceeded', {
    message: `Too many background runs are queued: at most ${mostQueued} of an organization are`,
    limit: mostQueued,
    window: 'concurrent',
    resetAt: Math.ceil(now.getTime() / 1000) + 1,
    retryAfter: 1,
  })

/**
 * Limits the concurrent runs of a payer in an organization, however they begin. Each process counts
 * its own, as it counts concurrent requests.
 */
export const runPlaces = ({ now }: Pick<Clock, 'now'>) => {
  const owners = new Map<string, Owner>()
  /** By organization. */
  const queued = new Map<string, number>()

  const queuedIn = (organizationId: string, more: number): void => {
    const count = (queued.get(organizationId) ?? 0) + more
    if (count > 0) queued.set(organizationId, count)
    else queued.delete(organizationId)
  }

  const wake = (owner: Owner): void => {
    while (owner.running < owner.limit) {
      const next = owner.waiting.find(({ kind }) => kind === 'admitted') ?? owner.waiting[0]
      if (!next) return
      next.resolve(true)
    }
  }

  const nameOf = ({ organizationId, payerId }: Payer) => `${payerId}@${organizationId}`

  const ownerOf = (payer: Payer): Owner => {
    const { limit } = payer
    const name = nameOf(payer)
    const owner = owners.get(name) ?? { limit, places: 0, running: 0, admitted: 0, waiting: [] }
    owners.set(name, owner)
    owner.limit = limit
    wake(owner)
    return owner
  }

  const placeOf = (payer: Payer, kind: Kind): RunPlace => {
    const { organizationId } = payer
    const owner = ownerOf(payer)
    owner.places++
    let state: 'waiting' | 'running' | 'left' = 'waiting'
    let waiting: Waiting | undefined
    if (kind === 'queued') queuedIn(organizationId, 1)
    else owner.admitted++

    const start = (): void => {
      state = 'running'
      owner.running++
      if (kind === 'admitted') return
      queuedIn(organizationId, -1)
      owner.admitted++
    }

    return {
      isQueued: () => kind === 'queued' && state === 'waiting',
      tryEnter() {
        if (state !== 'waiting' || owner.running >= owner.limit) return state === 'running'
        start()
        return true
      },
      enter: () =>
        new Promise((resolve) => {
          waiting = {
            kind,
            resolve(entered) {
              owner.waiting = owner.waiting.filter((entry) => entry !== waiting)
              waiting = undefined
              if (entered) start()
              resolve(entered)
            },
          }
          owner.waiting.push(waiting)
          wake(owner)
        }),
      abandon: () => waiting?.resolve(false),
      leave() {
        waiting?.resolve(false)
        if (state === 'left') return
        if (state === 'running') owner.running--
        if (state === 'waiting' && kind === 'queued') queuedIn(organizationId, -1)
        else owner.admitted--
        state = 'left'
        wake(owner)
        owner.places--
        if (owner.places === 0) owners.delete(nameOf(payer))
      },
    }
  }

  const isFull = (payer: Payer): boolean =>
    (owners.get(nameOf(payer))?.admitted ?? 0) >= payer.limit

  return {
    /** For a foreground run. @throws rate_limit_exceeded */
    admit(payer: Payer): RunPlace {
      if (isFull(payer)) throw tooManyRuns(payer.limit, now())
      return placeOf(payer, 'admitted')
    },
    /**
     * For a run in the background, which is queued where it cannot run now. @throws
     * rate_limit_exceeded
     */
    enqueue(payer: Payer): RunPlace {
      if (!isFull(payer)) return placeOf(payer, 'admitted')
      if ((queued.get(payer.organizationId) ?? 0) >= mostQueued) throw tooManyQueued(now())
      return placeOf(payer, 'queued')
    },
    /** For a run that has begun or was queued before: it is never refused. */
    resume: (payer: Payer, isQueued: boolean): RunPlace =>
      placeOf(payer, isQueued ? 'queued' : 'admitted'),
    /** Cancels the waits of all queued runs. */
    abandonQueued(): void {
      for (const { waiting } of owners.values())
        for (const entry of [...waiting]) if (entry.kind === 'queued') entry.resolve(false)
    },
    /** How many runs are queued. */
    queued: (): number => [...queued.values()].reduce((sum, count) => sum + count, 0),
  }
}
