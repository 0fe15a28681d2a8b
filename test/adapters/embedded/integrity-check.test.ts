import { cpSync, existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import { embeddedAnswers } from '../../../src/adapters/embedded/answers.ts'
import { embeddedEventStore } from '../../../src/adapters/embedded/event-store.ts'
import { embeddedKeyStore } from '../../../src/adapters/embedded/key-store.ts'
import { openLog } from '../../../src/adapters/embedded/log.ts'
import { embeddedViews } from '../../../src/adapters/embedded/views.ts'
import { openViewsEnv } from '../../../src/adapters/embedded/views-env.ts'
import { type RecordedEvent, START, StoreDamaged } from '../../../src/ports/event-store.ts'
import { eventually } from '../../support/eventually.ts'
import { gathered, noted } from '../../support/noted.ts'
import { at } from '../../support/positions.ts'
import { rounds } from '../../support/rounds.ts'
import { cutOff, flipText, randomNumbers, spoil } from '../../support/spoiled.ts'

t.setTimeout(600_000)

const streams = 40
/** In this process, which lmdb may end: test/faults/damage tries more, on servers. */
const seeds = rounds(8, 24)
/** Also on a busy machine the check ends first. */
const patienceMs = 600_000

/** A closed log of some hundred pages, with values large and small; and what it holds. */
const filled = async (t: Test) => {
  const path = join(t.testdir(), 'log')
  const log = await openLog({ path })
  const store = embeddedEventStore(log)
  const answers = embeddedAnswers(log)
  const keys = embeddedKeyStore(log)
  for (let round = 0; round < 8; round++)
    await Promise.all(
      Array.from({ length: streams }, async (_, n) => {
        const note = `${round} `.repeat(n % 7 === 0 ? 4_000 : 60)
        await store.append(`note-${n}`, 'any', [noted(note), noted('short')])
      }),
    )
  for (let n = 0; n < 50; n++) {
    await keys.create(`key/${n}`, Buffer.from('wrapped'))
    await answers.claim(`scope-${n}`, 'print', 'holder', new Date(0))
  }
  const events = await gathered(store.history(START))
  await log.close()
  return { path, events }
}

/** As a killed process leaves it. */
const leftOpen = (path: string) => rmSync(join(path, 'closed.json'), { force: true })

/** A copy of a closed log, left as by a killed process. */
const copied = (t: Test, path: string, name: string) => {
  const copy = join(t.testdirName, name)
  cpSync(path, copy, { recursive: true })
  leftOpen(copy)
  return { copy, file: join(copy, 'data.mdb') }
}

/** Zeroes the pages of an event of a small record, also those of earlier states of the file. */
const zeroPageOf = (file: string, event: RecordedEvent | undefined) => {
  const bytes = readFileSync(file)
  const id = `${event?.id}`
  for (let at = bytes.indexOf(id); at !== -1; at = bytes.indexOf(id, at)) {
    const page = Math.floor(at / 4_096)
    bytes.fill(0, page * 4_096, (page + 1) * 4_096)
  }
  writeFileSync(file, bytes)
}

const isPending = (path: string) => existsSync(join(path, 'check-pending'))

t.test('a sound log that was not closed is opened, and no damage is named', async (t) => {
  const { path, events } = await filled(t)
  leftOpen(path)
  const log = await openLog({ path, patienceMs })
  t.strictSame(await gathered(embeddedEventStore(log).history(START)), events)
  t.strictSame(log.damage(), [])
  t.notOk(isPending(path))
  await log.close()
})

t.test('a log that is left open and damaged is refused, or read as it was written', async (t) => {
  const { path, events } = await filled(t)
  const byPosition = new Map(events.map((event) => [event.position, event]))
  let refused = 0
  for (let seed = 1; seed <= seeds; seed++) {
    const { copy, file } = copied(t, path, `${seed}`)
    const random = randomNumbers(seed)
    const how = seed % 8 === 0 ? cutOff(file, random) : spoil(file, random)
    const log = await openLog({ path: copy, patienceMs }).catch((error) => {
      t.type(error, StoreDamaged, `${seed}: ${how}: ${error}`)
    })
    if (!log) {
      refused++
      rmSync(copy, { recursive: true })
      continue
    }
    const store = embeddedEventStore(log)
    const damaged = new Set(log.damage().map(({ from }) => from))
    const read: RecordedEvent[] = []
    for (const { position } of events) {
      const positions = async function* () {
        yield [position]
      }
      const matches = await gathered(store.at(positions())).catch((error) => {
        t.type(error, StoreDamaged, `${seed}: ${how}`)
        return []
      })
      read.push(...matches)
    }
    const wrong = read.filter((event) => !t.strictSame(event, byPosition.get(event.position)))
    t.strictSame(wrong, [], `${seed}: ${how}: nothing else is read`)
    if (damaged.size === 0) {
      t.equal(read.length, events.length, `${seed}: ${how}: all is read`)
      for (let n = 0; n < streams; n++)
        t.equal((await gathered(store.read(`note-${n}`))).length, 16, `${seed}: ${how}: ${n}`)
    }
    await log.close()
    rmSync(copy, { recursive: true })
  }
  t.ok(refused >= seeds / 4, `${refused} of ${seeds} were refused`)
})

t.test('the refusal names the database and the last sound position', async (t) => {
  const { path, events } = await filled(t)
  const { file } = copied(t, path, 'named')
  zeroPageOf(file, events[407])
  const refusal = await openLog({ path: join(file, '..'), patienceMs }).catch(String)
  const [, last] = /in the database records, .* up to position (\d+): /.exec(`${refusal}`) ?? []
  t.ok(Number(last) > 300 && Number(last) < 407, `${refusal}`)
})

t.test('a damaged value in a log that was left open is named, and the log is opened', async (t) => {
  const { path, events } = await filled(t)
  leftOpen(path)
  const { id, position } = events[101] as RecordedEvent
  flipText(join(path, 'data.mdb'), id)
  const log = await openLog({ path, patienceMs })
  t.match(log.damage(), [{ store: 'events', from: position, to: position }])
  const neighbour = async function* () {
    yield [at(position + 1)]
  }
  t.equal((await gathered(embeddedEventStore(log).at(neighbour()))).length, 1)
  await log.close()
})

t.test('a long check continues beside the start, and reports damage', async (t) => {
  const { path, events } = await filled(t)
  leftOpen(path)
  const file = join(path, 'data.mdb')
  zeroPageOf(file, events[407])
  const faults: StoreDamaged[] = []
  const opening = () =>
    openLog({ path, patienceMs: 0, onFault: (error) => void faults.push(error) })
  const log = await opening()
  t.ok(isPending(path))
  await eventually(async () => faults.length > 0)
  t.match(faults, [{ name: 'StoreDamaged', message: /database records/ }])
  t.match(log.damage(), [{ store: 'events', what: faults[0]?.message }])
  await log.close()
  t.ok(isPending(path), 'the next opening has to check again')
  await t.rejects(opening(), StoreDamaged, 'and it waits')
  t.equal(faults.length, 1)
})

t.test('a check that was cut off is waited for by the next start', async (t) => {
  const { path } = await filled(t)
  leftOpen(path)
  writeFileSync(join(path, 'check-pending'), '')
  const log = await openLog({ path, patienceMs: 0 })
  t.notOk(isPending(path))
  await log.close()
})

t.test('a clean close ends a check beside it', async (t) => {
  const { path } = await filled(t)
  leftOpen(path)
  await (await openLog({ path, patienceMs: 0 })).close()
  t.notOk(isPending(path))
  t.ok(existsSync(join(path, 'closed.json')))
})

const spec = { name: 'notes', indexes: { byKind: { equals: ['kind'], orderBy: 'n' } } }
type Note = { kind: string; n: number; text: string }

const notes = Array.from({ length: 1_200 }, (_, n) => ({
  id: `org/note-${n}`,
  document: { kind: `kind-${n % 5}`, n, text: `${n} `.repeat(n % 40) },
}))

/** Views as a killed process leaves them, and what they hold. */
const viewsLeftOpen = async (t: Test) => {
  const path = join(t.testdir(), 'views')
  const env = await openViewsEnv({ path })
  const views = embeddedViews(env)
  await views.view<Note>(spec)
  await views.commit([{ view: 'notes', position: at(1), changes: notes }])
  await views.close()
  const mark = join(path, 'mark.json')
  const { layout } = JSON.parse(readFileSync(mark, 'utf8'))
  writeFileSync(mark, JSON.stringify({ layout, boot: 'boot' }))
  return path
}

t.test('views that are left open and damaged start empty, or are as they were', async (t) => {
  const path = await viewsLeftOpen(t)
  let dropped = 0
  for (let seed = 1; seed <= seeds; seed++) {
    const copy = join(t.testdirName, `${seed}`)
    cpSync(path, copy, { recursive: true })
    const random = randomNumbers(seed)
    const file = join(copy, 'data.mdb')
    const how = seed % 8 === 0 ? cutOff(file, random) : spoil(file, random)
    const env = await openViewsEnv({ path: copy, boot: 'boot', patienceMs })
    const views = embeddedViews(env)
    const view = await views.view<Note>(spec)
    if (env.startedEmpty) {
      dropped++
      t.match(env.startedEmpty, /data\.mdb/, `${seed}: ${how}`)
      t.equal(await views.checkpoint('notes'), START)
    } else {
      for (const { id, document } of notes) t.strictSame(await view.get(id), document, how)
      const result = await view.find({ index: 'byKind', equals: ['kind-3'], limit: 500 })
      t.equal(result.total, 240, `${seed}: ${how}`)
      t.equal(result.items.length, 240, `${seed}: ${how}`)
    }
    await views.close()
    rmSync(copy, { recursive: true })
  }
  t.ok(dropped >= seeds / 2, `${dropped} of ${seeds} were dropped`)
})

t.test('views whose damage is found beside the start are folded again', async (t) => {
  const path = await viewsLeftOpen(t)
  flipText(join(path, 'data.mdb'), '7 7 7 7')
  const env = await openViewsEnv({ path, boot: 'boot', patienceMs: 0 })
  t.equal(env.startedEmpty, undefined)
  const views = embeddedViews(env)
  let renewed = 0
  views.onRenewed(() => renewed++)
  await views.view<Note>(spec)
  await eventually(async () => renewed > 0)
  await eventually(async () => (await views.checkpoint('notes').catch(() => at(1))) === START)
  await views.close()
})
