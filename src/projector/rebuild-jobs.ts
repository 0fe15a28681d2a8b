import type { AnyProjection } from '../../projections/projection.ts'
import { refusal } from '../domain/refusal.ts'
import type { EventStore } from '../ports/event-store.ts'
import type { Log } from '../ports/log.ts'
import type { Views } from '../ports/views.ts'
import type { Projecting } from './projector.ts'
import type { Progress } from './rebuild.ts'

type Sources = {
  store: Pick<EventStore, 'head' | 'distance'>
  views: Pick<Views, 'checkpoint'>
  projections: readonly Pick<AnyProjection, 'name'>[]
}

/** How far each read model is folded, as stored; `lag` is the distance to the log's head. */
export const standingsOf = async ({ store, views, projections }: Sources) => {
  const head = await store.head()
  const standings = projections.map(async ({ name }) => {
    const position = await views.checkpoint(name)
    const { amount: lag, unit: lag_unit } = store.distance(position, head)
    return { name, position, lag, lag_unit }
  })
  return Promise.all(standings)
}

type Standing = Awaited<ReturnType<typeof standingsOf>>[number]

export type ProjectionStatus = Standing & {
  /** `elsewhere`: another node projects, and knows more. */
  state: 'running' | 'stopped' | 'rebuilding' | 'elsewhere'
  /** Of the rebuild under way. */
  progress?: Progress
  /** What stopped the projection, or ended its last rebuild. */
  error?: string
}

type Uses = Sources & { projecting: Pick<Projecting, 'state' | 'holds' | 'rebuild'>; log: Log }

/** Rebuilds begun on request: they run on their own and can be looked at meanwhile. */
export const rebuildJobs = ({ projecting, log, ...sources }: Uses) => {
  const under = new Map<string, Progress>()
  const failures = new Map<string, string>()
  const running = new Set<Promise<void>>()

  const run = async (name: string): Promise<void> => {
    try {
      await projecting.rebuild(name, (progress) => under.set(name, progress))
      log.info({ projection: name }, 'a read model was rebuilt')
    } catch (err) {
      failures.set(name, err instanceof Error ? err.message : String(err))
      log.error({ err, projection: name }, 'a rebuild has failed')
    }
    under.delete(name)
  }

  return {
    async list(): Promise<ProjectionStatus[]> {
      const states = new Map(projecting.state().map((state) => [state.name, state]))
      return (await standingsOf(sources)).map((standing) => {
        const { name } = standing
        const { state = 'stopped', error } = states.get(name) ?? {}
        const progress = under.get(name)
        if (progress) return { ...standing, state: 'rebuilding', progress }
        const failure = failures.get(name) ?? (error instanceof Error ? error.message : undefined)
        return {
          ...standing,
          state: projecting.holds(name) ? state : 'elsewhere',
          ...(failure === undefined ? {} : { error: failure }),
        }
      })
    },

    /**
     * Begins a rebuild beside the live view, or joins the one under way.
     * @throws projection_not_found, projects_elsewhere
     */
    begin(name: string): void {
      if (!sources.projections.some((projection) => projection.name === name))
        throw refusal('projection_not_found')
      if (!projecting.holds(name)) throw refusal('projects_elsewhere')
      if (under.has(name)) return
      failures.delete(name)
      under.set(name, { events: 0, percent: 0 })
      const done = run(name).finally(() => running.delete(done))
      running.add(done)
    },

    /** Resolves when none is under way. */
    async ended(): Promise<void> {
      await Promise.all(running)
    },
  }
}

export type RebuildJobs = ReturnType<typeof rebuildJobs>
