import { randomUUID } from 'node:crypto'
import { projections } from '../../projections/all.ts'
import { type UnreadableEventView, unreadableEvents } from '../../projections/unreadable-events.ts'
import { listUnreadable } from '../../queries/list-unreadable.ts'
import { laterProjectorLease, projectorLease } from '../app/read-models.ts'
import type { Stores } from '../app/stores.ts'
import { configFrom, type Environment } from '../config.ts'
import { rebuildTogether } from '../projector/rebuild.ts'
import { standingsOf } from '../projector/rebuild-jobs.ts'
import { verifyProjection } from '../projector/verify.ts'
import { CommandFailed } from './command-failed.ts'
import { localStores } from './local-stores.ts'
import type { Projections } from './projections.ts'

/** How many unreadable events are listed. */
const mostNamed = 100
const leaseMs = 8_000
const renewMs = 3_000

const askTheServer =
  'ask it instead: SUPER_ADMIN_KEY=… reprise projections … --url http://127.0.0.1:3000'

/** Works while it is the only process that projects. The signal aborts when that right is lost. */
const projectingAlone = async <Result>(
  { leases, sharedViews }: Stores,
  work: (signal: AbortSignal) => Promise<Result>,
): Promise<Result> => {
  const lost = new AbortController()
  if (!sharedViews) return work(lost.signal)
  const holder = randomUUID()
  const names = [projectorLease, laterProjectorLease]
  const acquire = async () => {
    const ours = await Promise.all(names.map((name) => leases.acquire(name, holder, leaseMs)))
    return ours.every(Boolean)
  }
  const release = () => Promise.all(names.map((name) => leases.release(name, holder)))
  if (!(await acquire())) {
    await release()
    throw new CommandFailed(`A server is projecting; ${askTheServer}`)
  }
  const renew = () =>
    acquire().then(
      (ours) => ours || lost.abort(new CommandFailed('A server has taken over projecting')),
      (error) => lost.abort(error),
    )
  const renewing = setInterval(renew, renewMs)
  try {
    return await work(lost.signal)
  } finally {
    clearInterval(renewing)
    await release()
  }
}

/** The read models of the configured stores, without a server. @throws CommandFailed */
export const localProjections = async (env: Environment): Promise<Projections> => {
  const stores = await localStores(configFrom(env), askTheServer)
  const { events: store, views } = stores
  for (const projection of projections) await views.view(projection)
  const unreadable = listUnreadable({
    unreadableEvents: await views.view<UnreadableEventView>(unreadableEvents),
  })
  const named = (name: string) => {
    const projection = projections.find((candidate) => candidate.name === name)
    if (!projection) throw new CommandFailed(`There is no projection called ${name}`, 2)
    return projection
  }
  return {
    together: true,
    async list() {
      const standings = await standingsOf({ store, views, projections })
      return standings.map((standing) => ({ ...standing, state: 'idle' }))
    },
    unreadable: async () => (await unreadable(mostNamed)).events,
    async rebuild(names, progress) {
      const chosen = names.map(named)
      await projectingAlone(stores, (signal) =>
        rebuildTogether({ store, views, projections: chosen, progress, signal }),
      )
    },
    async verify(name) {
      const projection = named(name)
      return projectingAlone(stores, (signal) =>
        verifyProjection({ store, views, projection, signal }),
      )
    },
    close: stores.close,
  }
}
