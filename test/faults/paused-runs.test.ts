import t from 'tap'
import type { Held } from '../../bench/counting/preload.ts'
import { agentClient, heldBy, pauseRuns, toolPlaces } from '../../bench/paused-runs.ts'
import { serveProduct } from '../../bench/processes.ts'

const runs = 300
const organizations = 10
/** Bytes of heap a run while caches, which are bounded, still have its session and documents. */
const mostWhileCached = 40_000
/** Bytes of heap a run in a process that has not run it: so few that noise is among them. */
const mostAfterRestart = 8_000

const total = ({ resources }: Held): number =>
  Object.values(resources).reduce((sum, count) => sum + count, 0)

t.test('runs that wait keep no timer, no handle and no memory of their own', async (t) => {
  const places = await toolPlaces({ dir: t.testdir() }, 'any')
  t.teardown(places.stop)
  const { dataDir, workers } = await places.make('paused', organizations)
  const start = async () => {
    const preload = 'counting/preload.js'
    const product = await serveProduct(dataDir, { env: places.env, preload, core: 'any' })
    t.teardown(product.stop)
    return product
  }

  const first = await start()
  const empty = await heldBy(first)
  await pauseRuns(first, workers, 50)
  const before = await heldBy(first)
  await pauseRuns(first, workers, runs)
  const after = await heldBy(first)
  const each = Math.round((after.heap - before.heap) / runs)
  t.ok(each < mostWhileCached, `${each} bytes of heap for each, of at most ${mostWhileCached}`)
  const timers = (after.resources.Timeout ?? 0) - (before.resources.Timeout ?? 0)
  t.ok(timers < runs / 50, `${timers} timers more`)
  const more = total(after) - total(before)
  t.ok(more < runs / 50, `${more} open handles more`)

  const [worker] = workers
  if (!worker) throw new Error('there is nobody to ask as')
  const client = agentClient(first)
  const last = await client.pause(worker, 'asking')
  await client.close()
  await first.stop()

  const second = await start()
  const again = await heldBy(second)
  const bytesPerRun = Math.round((again.heap - empty.heap) / runs)
  t.ok(bytesPerRun < mostAfterRestart, `${bytesPerRun} bytes of heap for each after a restart`)
  t.ok(total(again) - total(empty) < runs / 50, 'no handle and no timer is opened for them')
  const resuming = agentClient(second)
  await resuming.goOn(last)
  await resuming.close()
})
