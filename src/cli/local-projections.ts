import { randomUUID } from 'node:crypto'
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { projections, projectorLease } from '../app-reads.ts'
import { openStores, type Stores } from '../app-stores.ts'
import { configFrom, type Environment } from '../config.ts'
import type { Log } from '../ports/log.ts'
import { rebuild } from '../rebuild.ts'
import { standingsOf } from '../rebuilds.ts'
import { CommandFailed } from './command-failed.ts'
import type { Projections } from './projections.ts'

const leaseMs = 8_000
const renewMs = 3_000

const askTheServer =
  'ask it instead: SUPER_ADMIN_KEY=… reprise projections … --url http://127.0.0.1:3000'

const log: Log = {
  info: () => undefined,
  warn: (_, text) => process.stderr.write(`${text}\n`),
  error: (_, text) => process.stderr.write(`${text}\n`),
}

const opened = async (env: Environment): Promise<Stores> => {
  const config = configFrom(env)
  const { DATA_DIR, EVENTSTORE_URL } = config
  if (!EVENTSTORE_URL && !existsSync(join(DATA_DIR, 'log')))
    throw new CommandFailed(`${DATA_DIR} holds no events: set DATA_DIR, or start the server once`)
  try {
    return await openStores(config, log)
  } catch (error) {
    if (!(error instanceof Error) || error.name !== 'StoreInUse') throw error
    throw new CommandFailed(`${error.message}. Where that is a running server, ${askTheServer}`)
  }
}

/** Does some work as the only one who projects. The signal aborts when that right is lost. */
const projectingAlone = async (
  { leases, sharedViews }: Stores,
  work: (signal: AbortSignal) => Promise<void>,
): Promise<void> => {
  const lost = new AbortController()
  if (!sharedViews) return work(lost.signal)
  const holder = randomUUID()
  const acquire = () => leases.acquire(projectorLease, holder, leaseMs)
  if (!(await acquire())) throw new CommandFailed(`A server projects at present; ${askTheServer}`)
  const renew = () =>
    acquire().then(
      (ours) => ours || lost.abort(new CommandFailed('A server has taken over projecting')),
      (error) => lost.abort(error),
    )
  const renewing = setInterval(renew, renewMs)
  try {
    await work(lost.signal)
  } finally {
    clearInterval(renewing)
    await leases.release(projectorLease, holder)
  }
}

/** The read models of the configured stores, with no server in between. @throws CommandFailed */
export const localProjections = async (env: Environment): Promise<Projections> => {
  const stores = await opened(env)
  const { events: store, views } = stores
  for (const projection of projections) await views.view(projection)
  return {
    async list() {
      const standings = await standingsOf({ store, views, projections })
      return standings.map((standing) => ({ ...standing, state: 'idle' }))
    },
    async rebuild(name, progress) {
      const projection = projections.find((one) => one.name === name)
      if (!projection) throw new CommandFailed(`There is no projection called ${name}`, 2)
      await projectingAlone(stores, (signal) =>
        rebuild({ store, views, projection, progress, signal }),
      )
    },
    close: stores.close,
  }
}
