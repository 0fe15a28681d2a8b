import { join } from 'node:path'
import { mock } from 'node:test'
import { setImmediate } from 'node:timers/promises'
import t, { type Test } from 'tap'
import { viewsBuffer } from '../../../src/adapters/embedded/views-buffer.ts'
import { viewsCatalog } from '../../../src/adapters/embedded/views-catalog.ts'
import { viewsDatabase } from '../../../src/adapters/embedded/views-database.ts'
import { openViewsEnv } from '../../../src/adapters/embedded/views-env.ts'
import { viewsReader } from '../../../src/adapters/embedded/views-reader.ts'
import { type Table, tableOf } from '../../../src/adapters/embedded/views-writing.ts'
import { START, StoreDamaged, StoreUnavailable } from '../../../src/ports/event-store.ts'
import { foldingSpec } from '../../support/folding.ts'
import { at } from '../../support/positions.ts'

/** More than are written at once, of one table. */
const many = 1_000

/**
 * A buffer, what it writes to, and a put that can fail. Its clock goes on by a millisecond at each
 * look.
 */
const opened = async (t: Test) => {
  const env = await openViewsEnv({ path: join(t.testdir(), 'views') })
  const db = viewsDatabase(env)
  const catalog = viewsCatalog(db)
  const tables = ['tallies', 'others'].map((name) =>
    tableOf(catalog.declare({ ...foldingSpec, name }).live, START),
  )
  const [tallies, others] = tables
  if (!tallies || !others) throw new Error('no tables')
  let puts = 0
  let time = 0
  let fault: { at: number; error: Error } | undefined
  const damage: StoreDamaged[] = []
  const disk = { isFull: false, commits: 0 }
  const buffer = viewsBuffer({
    room() {
      if (disk.isFull) throw new StoreUnavailable('full')
      disk.commits++
    },
    db: {
      ...db,
      putSync(...given) {
        puts++
        if (fault && puts >= fault.at) throw fault.error
        db.putSync(...given)
      },
    },
    onDamage: (error) => damage.push(error),
    now: () => time++,
  })
  const reader = viewsReader(db, buffer)
  return {
    buffer,
    reader,
    disk,
    tallies,
    others,
    damage,
    putsOf: () => puts,
    failAt(more: number, error: Error) {
      fault = { at: puts + more, error }
    },
    mend() {
      fault = undefined
    },
    take(table: typeof tallies, n: number, count = many, bytes = 100) {
      const changes = Array.from({ length: count }, (_, index) => ({
        id: `slot ${index}`,
        document: { group: 'all', n },
      }))
      buffer.take(table, { changes, position: at(n) }, bytes)
      buffer.taken()
    },
    total: (table: typeof tallies) =>
      reader.find(table, { index: 'by_group', equals: ['all'], limit: 0 }).total,
    stored: (table: typeof tallies) => catalog.checkpoint(table),
    async close() {
      buffer.discard()
      await env.close()
    },
  }
}

t.test('a large write takes many turns of the event loop, a few puts in each', async (t) => {
  const { buffer, tallies, others, take, putsOf, total, stored, close } = await opened(t)
  take(tallies, 1)
  const waiting = new Set<typeof tallies>()
  const waitFor = async (table: typeof tallies) => {
    waiting.add(table)
    for (let write = buffer.ensureWritten(table); write; write = buffer.ensureWritten(table))
      await write
    waiting.delete(table)
  }
  void waitFor(tallies)
  const ofTurns: number[] = []
  for (let before = 0; waiting.size > 0; before = putsOf()) {
    await setImmediate()
    ofTurns.push(putsOf() - before)
    if (ofTurns.length === 5) {
      take(tallies, 2, 10)
      t.strictSame(buffer.current(tallies, 'slot 9'), { group: 'all', n: 2 }, 'what came meanwhile')
      t.strictSame(buffer.current(tallies, 'slot 10'), { group: 'all', n: 1 }, 'what is written')
      take(others, 2)
      void waitFor(others)
      t.ok(waiting.has(others), 'another table waits until it is over')
    }
  }
  const ofBoth = 2 * (many + many + 2)
  const meanwhile = 2 * 10 + 1
  t.equal(putsOf(), ofBoth + meanwhile, 'documents, entries, totals and checkpoints')
  t.ok(Math.max(...ofTurns) <= 20, `${ofTurns}`)
  t.strictSame([stored(tallies), total(tallies)], [2, many])
  t.strictSame([stored(others), total(others)], [2, many])
  await close()
})

t.test('a write without a waiting caller leaves the loop to others in between', async (t) => {
  const { buffer, tallies, take, putsOf, stored, close } = await opened(t)
  mock.timers.enable({ apis: ['setTimeout'] })
  const someTurns = async () => {
    for (let turns = 0; turns < 5; turns++) await setImmediate()
    return putsOf()
  }
  take(tallies, 1)
  t.equal(await someTurns(), 0)
  mock.timers.tick(1_000)
  const first = await someTurns()
  t.ok(first > 0 && first <= 20, `${first} puts`)
  take(tallies, 2, 10)
  t.equal(await someTurns(), first, 'nothing more, whatever else is taken')
  mock.timers.tick(8)
  const second = await someTurns()
  t.ok(second > first && second <= 2 * first, `${second} puts`)
  const write = buffer.ensureWritten(tallies)
  t.ok((await someTurns()) > 2 * second, 'more at once where somebody waits')
  await write
  t.equal(stored(tallies), 1)
  mock.timers.reset()
  await close()
})

t.test('nor does what grows faster than it is written', async (t) => {
  const { tallies, others, take, putsOf, close } = await opened(t)
  mock.timers.enable({ apis: ['setTimeout'] })
  take(tallies, 1)
  mock.timers.tick(1_000)
  await setImmediate()
  await setImmediate()
  const first = putsOf()
  take(others, 1, many, 10 * 1024 * 1024)
  for (let turns = 0; turns < 5; turns++) await setImmediate()
  t.ok(putsOf() > 3 * first, `${putsOf()} puts`)
  mock.timers.reset()
  await close()
})

t.test('of a table that is rebuilt a few hundred changes are written at once', async (t) => {
  const { tallies, others, take, stored, close } = await opened(t)
  mock.timers.enable({ apis: ['setTimeout'] })
  const aWhile = async () => {
    for (let turns = 0; turns < 200; turns++) {
      mock.timers.tick(1)
      await setImmediate()
    }
  }
  tallies.rebuilt = true
  take(tallies, 1, 511)
  take(others, 1, 600)
  await aWhile()
  t.strictSame([stored(tallies), stored(others)], [START, START], 'all wait')
  take(tallies, 2, 512)
  await aWhile()
  t.equal(stored(tallies), START, 'they are being written, with others in between')
  take(tallies, 3, 1_024)
  await aWhile()
  t.strictSame([stored(tallies), stored(others)], [2, START], 'with as many again there is a hurry')
  mock.timers.reset()
  await close()
})

t.test('all that waits is written a few puts at a time too', async (t) => {
  const { buffer, tallies, others, take, putsOf, stored, close } = await opened(t)
  take(tallies, 1)
  take(others, 1)
  let over = false
  const all = buffer.writtenInSlices().then(() => {
    over = true
  })
  const ofTurns: number[] = []
  for (let before = 0; !over; before = putsOf()) {
    await setImmediate()
    ofTurns.push(putsOf() - before)
  }
  await all
  t.strictSame([stored(tallies), stored(others)], [1, 1])
  t.ok(Math.max(...ofTurns) <= 20, `${ofTurns}`)
  await close()
})

t.test('a write that fails in the middle leaves nothing, and all of it waits again', async (t) => {
  const { buffer, tallies, take, failAt, mend, total, stored, close } = await opened(t)
  take(tallies, 1, 10)
  buffer.write()
  take(tallies, 2)
  failAt(700, new Error('no room'))
  const first = buffer.ensureWritten(tallies)
  await setImmediate()
  take(tallies, 3, 5)
  await t.rejects(Promise.resolve(first), StoreUnavailable)
  t.strictSame([stored(tallies), total(tallies)], [1, 10])
  t.strictSame(buffer.current(tallies, 'slot 4'), { group: 'all', n: 3 })
  t.strictSame(buffer.current(tallies, 'slot 5'), { group: 'all', n: 2 })
  t.throws(() => buffer.requireWritten(), StoreUnavailable)
  mend()
  buffer.requireWritten()
  t.strictSame([stored(tallies), total(tallies)], [3, many])
  await close()
})

t.test('damage that a write meets is told, also where nobody waits for it', async (t) => {
  const { tallies, take, failAt, damage, stored, close } = await opened(t)
  const error = new StoreDamaged('a page')
  failAt(10, error)
  take(tallies, 1, many, 10 * 1024 * 1024)
  t.strictSame(damage, [])
  for (let turns = 0; turns < 10; turns++) await setImmediate()
  t.strictSame(damage, [error])
  t.equal(stored(tallies), START)
  await close()
})

t.test('a discarded write is not committed', async (t) => {
  const { buffer, tallies, take, stored, putsOf, close } = await opened(t)
  take(tallies, 1)
  const write = buffer.ensureWritten(tallies)
  await setImmediate()
  t.ok(putsOf() > 0)
  buffer.discard()
  await write
  t.equal(stored(tallies), START)
  t.equal(buffer.current(tallies, 'slot 1'), undefined)
  await close()
})

/** Whatever waits of a table is written, as far as the disk allows. */
const settled = async ({ buffer }: Awaited<ReturnType<typeof opened>>, table: Table) => {
  for (let write = buffer.ensureWritten(table); write; write = buffer.ensureWritten(table))
    await write
}

for (const count of [10, many])
  t.test(
    `on a full disk, reads by index show ${count} changes that cannot be committed`,
    async (t) => {
      const scene = await opened(t)
      const { buffer, reader, disk, tallies, others, take, total, close } = scene
      const last = () =>
        reader.find(tallies, { index: 'by_group', equals: ['all'], limit: many }).items.at(-1)
      take(tallies, 1, 5)
      await settled(scene, tallies)
      disk.isFull = true
      disk.commits = 0
      take(tallies, 2, count)
      await settled(scene, tallies)
      t.equal(total(tallies), count)
      t.strictSame(last(), { group: 'all', n: 2 })
      t.strictSame(buffer.current(tallies, 'slot 1'), { group: 'all', n: 2 })
      take(others, 3, count)
      await settled(scene, others)
      t.strictSame([total(tallies), total(others)], [count, count], 'of all tables')
      t.throws(() => buffer.requireWritten(), StoreUnavailable, 'nothing more is accepted')
      t.equal(total(tallies), count, 'and they still show')
      t.equal(disk.commits, 0)
      disk.isFull = false
      buffer.requireWritten()
      t.ok(disk.commits > 0, 'they are committed once there is space')
      t.strictSame([total(tallies), total(others)], [count, count])
      await close()
    },
  )

t.test('a write held up by a full disk is committed later without another commit', async (t) => {
  const scene = await opened(t)
  const { disk, tallies, take, total, close } = scene
  mock.timers.enable({ apis: ['setTimeout'] })
  disk.isFull = true
  take(tallies, 1, 10)
  await settled(scene, tallies)
  mock.timers.tick(1_000)
  for (let turns = 0; turns < 5; turns++) await setImmediate()
  t.equal(disk.commits, 0)
  disk.isFull = false
  mock.timers.tick(1_000)
  for (let turns = 0; turns < 5; turns++) await setImmediate()
  t.equal(disk.commits, 1)
  t.equal(total(tallies), 10)
  mock.timers.reset()
  await close()
})

t.test('a failed commit is abandoned and does not end the process', async (t) => {
  const env = await openViewsEnv({ path: join(t.testdir(), 'views') })
  const db = viewsDatabase(env)
  const { commit, abort } = db.begin()
  db.putSync(['key'], 'value')
  commit()
  abort()
  t.equal(db.get(['key']), 'value')
  await env.close()
})
