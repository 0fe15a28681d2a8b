import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import type { Section } from './bench.ts'
import { chatRequest, productWith } from './contenders.ts'
import { alternately, load, medianOf } from './load.ts'
import { launch, loadCore } from './processes.ts'

/** The stand-in for EventStoreDB as a process of its own, on the load generators' core. */
const startDouble = async () => {
  const script = new URL('../test/support/eventstoredb-double/main.js', import.meta.url)
  const command = ['-c', String(loadCore), process.execPath, fileURLToPath(script)]
  const child = spawn('taskset', command, { stdio: ['pipe', 'pipe', 'inherit'] })
  const [url] = await once(createInterface({ input: child.stdout }), 'line')
  return { url: String(url), stop: () => child.stdin.end() }
}

type Counted = { events: number; ms: number }

const counted = async (script: string, env: Record<string, string>): Promise<Counted> => {
  const [counts] = await once(launch({ script, env, listening: true }), 'message')
  return counts as Counted
}

const perSecond = ({ events, ms }: Counted) => (events / ms) * 1_000

/** Cost of a turn and a replay over EventStoreDB, against the embedded log and the bare client. */
export const benchEventStoreDb: Section = async (place) => {
  const double = await startDouble()
  const env = { EVENTSTORE_URL: double.url }
  const over = await productWith(place, { name: 'over-eventstoredb', env })
  const embedded = await productWith(place, { name: 'beside-eventstoredb' })
  try {
    const [theirs, own] = await alternately(
      [over, embedded].map(
        ({ product, tenants }) =>
          () =>
            load(
              product,
              tenants.map((tenant) => chatRequest(tenant)),
            ),
      ),
    )
    await over.product.stop()
    const DATA_DIR = join(place.dir, 'over-eventstoredb')
    const read = await counted('reading.js', env)
    const replayed = await counted('replaying.js', {
      ...env,
      MASTER_KEY: '',
      DATA_DIR: join(DATA_DIR, 'anew'),
    })
    return [
      {
        name: 'turn over EventStoreDB, CPU of the server',
        value: medianOf(theirs, ({ cpu }) => cpu),
        unit: 'µs',
        against: { name: 'embedded log', value: medianOf(own, ({ cpu }) => cpu) },
        aim: { most: 2.5 },
      },
      {
        name: `replay of ${replayed.events} events over EventStoreDB into all views`,
        value: perSecond(replayed),
        unit: 'events/s',
        against: { name: 'read by its client alone', value: perSecond(read) },
        aim: { least: 0.5 },
      },
    ]
  } finally {
    await Promise.all([over, embedded].map(({ product }) => product.stop()))
    double.stop()
  }
}
