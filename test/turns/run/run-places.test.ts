import t from 'tap'
import { Refusal } from '../../../src/domain/refusal.ts'
import { mostQueued, type RunPlace, runPlaces } from '../../../src/turns/run/run-places.ts'

const clock = { now: () => new Date('2026-01-01T00:00:00.000Z') }
const payer = { organizationId: 'org-1', payerId: 'user-1', limit: 2 }

/** Places of one payer with a limit of two, and the order in which runs that waited began. */
const placing = () => {
  const places = runPlaces(clock)
  const starts: string[] = []
  const wait = (name: string, place: RunPlace): RunPlace => {
    void place.enter().then((entered) => starts.push(entered ? name : `${name} left`))
    return place
  }
  const running = (place: RunPlace): RunPlace => {
    if (!place.tryEnter()) throw new Error('there is no place')
    return place
  }
  return { places, starts, wait, running, settled: () => new Promise(setImmediate) }
}

t.test('refuses a foreground run over the limit until one has left', async (t) => {
  const { places, running } = placing()
  const first = running(places.admit(payer))
  running(places.admit(payer))
  t.throws(() => places.admit(payer), {
    code: 'rate_limit_exceeded',
    facts: { limit: 2, window: 'concurrent', retryAfter: 1, resetAt: 1_767_225_601 },
  })
  first.leave()
  first.leave()
  running(places.admit(payer))
  t.throws(() => places.admit(payer), Refusal)
})

t.test('counts each payer in each organization apart', async (t) => {
  const { places, running } = placing()
  for (const owner of [
    payer,
    { ...payer, payerId: 'user-2' },
    { ...payer, organizationId: 'org-2' },
  ])
    for (let n = 0; n < 2; n++) running(places.admit(owner))
  t.throws(() => places.admit(payer), Refusal)
})

t.test('counts a run that waits for its session', async (t) => {
  const { places } = placing()
  places.admit(payer)
  places.admit(payer)
  t.throws(() => places.admit(payer), Refusal)
})

t.test('queued runs start in order, after resumed ones', async (t) => {
  const { places, starts, wait, running, settled } = placing()
  const [first, second] = [running(places.admit(payer)), running(places.admit(payer))]
  const queued = places.enqueue(payer)
  t.ok(queued.isQueued())
  t.notOk(queued.tryEnter())
  wait('queued 1', queued)
  wait('queued 2', places.enqueue(payer))
  const resumed = wait('resumed', places.resume(payer, false))
  t.equal(places.queued(), 2)
  first.leave()
  await settled()
  t.strictSame(starts, ['resumed'])
  second.leave()
  await settled()
  t.strictSame(starts, ['resumed', 'queued 1'])
  t.notOk(queued.isQueued())
  resumed.leave()
  await settled()
  t.strictSame(starts, ['resumed', 'queued 1', 'queued 2'])
  t.equal(places.queued(), 0)
})

t.test('a background run is not queued where it can run', async (t) => {
  const { places } = placing()
  t.notOk(places.enqueue(payer).isQueued())
})

t.test('a queued run behind another turn takes a place that is free by then', async (t) => {
  const { places, running } = placing()
  const first = running(places.admit(payer))
  running(places.admit(payer))
  const queued = places.enqueue(payer)
  first.leave()
  t.ok(queued.tryEnter())
  t.throws(() => places.admit(payer), Refusal)
  t.equal(places.queued(), 0)
})

t.test('queues a hundred runs of an organization, whoever pays for them', async (t) => {
  const { places, running } = placing()
  const other = { ...payer, payerId: 'user-2' }
  for (const owner of [payer, payer, other, other]) running(places.admit(owner))
  const queued = Array.from({ length: mostQueued }, (_, n) => places.enqueue(n % 2 ? payer : other))
  t.equal(places.queued(), 100)
  t.throws(() => places.enqueue(payer), { code: 'rate_limit_exceeded', facts: { limit: 100 } })
  const elsewhere = { ...payer, organizationId: 'org-2' }
  for (let n = 0; n < 2; n++) running(places.admit(elsewhere))
  t.ok(places.enqueue(elsewhere).isQueued())
  queued[0]?.leave()
  t.ok(places.enqueue(payer).isQueued())
})

t.test('a cancelled wait frees its place in the queue', async (t) => {
  const { places, starts, wait, running, settled } = placing()
  const first = running(places.admit(payer))
  running(places.admit(payer))
  const place = wait('one', places.enqueue(payer))
  wait('two', places.enqueue(payer))
  place.abandon()
  place.leave()
  t.equal(places.queued(), 1)
  first.leave()
  await settled()
  t.strictSame(starts, ['one left', 'two'])
})

t.test('cancels only the waits of queued runs', async (t) => {
  const { places, starts, wait, running, settled } = placing()
  const first = running(places.admit(payer))
  running(places.admit(payer))
  wait('queued', places.enqueue(payer))
  wait('resumed', places.resume(payer, false))
  places.abandonQueued()
  await settled()
  t.strictSame(starts, ['queued left'])
  first.leave()
  await settled()
  t.strictSame(starts, ['queued left', 'resumed'])
})

t.test('a larger plan lets waiting runs begin with the next request', async (t) => {
  const { places, starts, wait, running, settled } = placing()
  for (let n = 0; n < 2; n++) running(places.admit(payer))
  wait('queued', places.enqueue(payer))
  places.resume({ ...payer, limit: 4 }, false)
  await settled()
  t.strictSame(starts, ['queued'])
})
