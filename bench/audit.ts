import { once } from 'node:events'
import { join } from 'node:path'
import { transparency } from '../projections/transparency.ts'
import { openStores } from '../src/app/stores.ts'
import { exportHistory } from '../src/cli/audit/export-history.ts'
import { localHistory } from '../src/cli/audit/local-history.ts'
import { verifyExport } from '../src/cli/audit/verify-export.ts'
import { type RecordedEvent, START } from '../src/ports/event-store.ts'
import { silent } from '../src/ports/log.ts'
import { batchFolder } from '../src/projector/batch.ts'
import { memoryProjectionStore } from '../src/projector/memory-store.ts'
import type { Cursor } from '../src/projector/router.ts'
import type { Section } from './bench.ts'
import { launch } from './processes.ts'
import { storeSessions } from './sessions.ts'
import { makeTenants, openWriting } from './tenants.ts'

const sessionCount = 5_000
const turns = 3
/** As many as come together when a server is busy. */
const batchEvents = 64

const progress = () => undefined

/** CPU that folding the tree costs for each event, in microseconds. */
const foldCost = async (dataDir: string): Promise<number> => {
  const { events, close } = await openStores({ DATA_DIR: dataDir }, silent)
  const log: RecordedEvent[] = []
  for await (const batch of events.history(START)) log.push(...batch)
  await close()
  const fold = batchFolder([transparency])
  const cursor: Cursor = { projection: transparency, position: START }
  const projectionStore = memoryProjectionStore(transparency)
  const before = process.cpuUsage()
  for (let at = 0; at < log.length; at += batchEvents) {
    const events = log.slice(at, at + batchEvents)
    const batch = { events, position: events.at(-1)?.position ?? START }
    const outcomes = await fold(projectionStore, [cursor], batch)
    for (const { changes, position } of outcomes) {
      await projectionStore.commit([{ view: transparency.name, changes, position }])
      cursor.position = position
    }
  }
  const { user, system } = process.cpuUsage(before)
  return (user + system) / log.length
}

/** Cost of the transparency log of an organization, and speed of its export and verification. */
export const benchAudit: Section = async ({ dir }) => {
  const dataDir = join(dir, 'audit')
  const writing = await openWriting(dataDir)
  const tenants = await makeTenants(writing, 1)
  await storeSessions(writing, tenants, sessionCount, () => turns)
  await writing.close()
  const [tenant] = tenants
  if (!tenant) throw new Error('nothing to measure')
  const cost = await foldCost(dataDir)
  const folding = launch({ script: 'replaying.js', env: { DATA_DIR: dataDir }, listening: true })
  const [{ done }] = await once(folding, 'message')
  if (!done) throw new Error('the replay did not end')

  const organization = tenant.organizationId
  const path = join(dir, 'history.ndjson')
  const history = await localHistory({ DATA_DIR: dataDir }, organization)
  const exporting = performance.now()
  const size = await exportHistory({ history, organization, path, progress })
  const exportMs = performance.now() - exporting
  await history.close()
  const verifying = performance.now()
  const { fault } = await verifyExport(path, {})
  const verifyMs = performance.now() - verifying
  if (fault) throw new Error(fault)
  const perSecond = (ms: number) => Math.round((size / ms) * 1_000)
  return [
    {
      name: `transparency log: CPU of an event, in batches of ${batchEvents}`,
      value: cost,
      unit: 'µs',
    },
    { name: `audit export of ${size} events`, value: perSecond(exportMs), unit: 'events/s' },
    { name: `audit verify of ${size} events`, value: perSecond(verifyMs), unit: 'events/s' },
  ]
}
