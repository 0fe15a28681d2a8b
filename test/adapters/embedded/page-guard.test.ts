import { closeSync, cpSync, openSync, statSync, utimesSync, writeSync } from 'node:fs'
import { join } from 'node:path'
import { setImmediate as turn } from 'node:timers/promises'
import t, { type Test } from 'tap'
import { embeddedAnswers } from '../../../src/adapters/embedded/answers.ts'
import { embeddedEventStore } from '../../../src/adapters/embedded/event-store.ts'
import { embeddedKeyStore } from '../../../src/adapters/embedded/key-store.ts'
import { openLog } from '../../../src/adapters/embedded/log.ts'
import { emptyPage } from '../../../src/adapters/embedded/page.ts'
import { type PageGuard, pageGuard } from '../../../src/adapters/embedded/page-guard.ts'
import { START, StoreDamaged, StoreUnavailable } from '../../../src/ports/event-store.ts'
import { gathered, noted } from '../../support/noted.ts'
import { at } from '../../support/positions.ts'
import { rounds } from '../../support/rounds.ts'
import { randomNumbers, spoil } from '../../support/spoiled.ts'

const streams = 60
/** Of how many damages two in three are found by what a test does next. */
const seeds = rounds(6, 15)

t.setTimeout(180_000)

const openedLog = async (path: string) => {
  const log = await openLog({ path })
  return {
    log,
    store: embeddedEventStore(log),
    answers: embeddedAnswers(log),
    keys: embeddedKeyStore(log),
  }
}

type Opened = Awaited<ReturnType<typeof openedLog>>

/** A closed log of some hundred pages, with values large and small. */
const filled = async (t: Test) => {
  const path = join(t.testdir(), 'log')
  const { log, store, answers, keys } = await openedLog(path)
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
  await log.close()
  return path
}

/** Does everything that is done with a log; answers how much succeeded and what failed. */
const used = async ({ store, answers, keys }: Opened) => {
  let done = 0
  const failed: unknown[] = []
  const attempt = async (work: () => Promise<unknown>) => {
    try {
      await work()
      done++
    } catch (error) {
      failed.push(error)
    }
  }
  await attempt(() => gathered(store.history(START)))
  for (let n = 0; n < streams; n++) {
    await attempt(() => gathered(store.read(`note-${n}`)))
    const some = [n * 16, n * 16 + 3, n * 16 + 5].map(at)
    await attempt(() =>
      gathered(
        store.at(
          (async function* () {
            yield some
          })(),
        ),
      ),
    )
    if (n % 5 === 0) await attempt(() => store.append(`note-${n}`, 'any', [noted('more')]))
    if (n % 5 === 1) await attempt(() => store.append(`new-${n}`, START, [noted('x')]))
    if (n % 5 === 2) await attempt(() => answers.claim(`s-${n}`, 'p', 'h', new Date(0)))
    if (n % 5 === 3) await attempt(async () => keys.create(`k/${n}`, Buffer.from('wrapped')))
    if (n % 5 === 4) await attempt(() => keys.get(`key/${n}`))
  }
  await attempt(() => answers.sweep(new Date()))
  return { done, failed }
}

const isNamed = (error: unknown) =>
  error instanceof StoreDamaged || error instanceof StoreUnavailable

t.test('a sound log is all read and written', async (t) => {
  const opened = await openedLog(await filled(t))
  const { failed } = await used(opened)
  t.strictSame(failed, [])
  t.strictSame(opened.log.damage(), [])
  await opened.log.close()
})

// lmdb would end this process on many of these.
for (const when of ['while it is closed', 'while it is open'] as const)
  t.test(
    `whatever is damaged ${when}: reads and writes are refused, and it is named`,
    async (t) => {
      const whole = await filled(t)
      let named = 0
      for (let seed = 1; seed <= seeds; seed++) {
        const path = join(t.testdirName, `${when.length}-${seed}`)
        cpSync(whole, path, { recursive: true })
        const file = join(path, 'data.mdb')
        const random = randomNumbers(seed)
        const harm = () => [spoil(file, random), spoil(file, random)].join(', ')
        let how = when === 'while it is closed' ? harm() : ''
        let opened: Opened
        try {
          opened = await openedLog(path)
        } catch (error) {
          t.type(error, StoreDamaged, `${seed}: ${how}: kept closed`)
          named++
          continue
        }
        // What was looked at in this turn is not looked at again.
        await turn()
        if (when === 'while it is open') how = harm()
        const { done, failed } = await used(opened)
        const strange = failed.filter((error) => !isNamed(error))
        t.strictSame(strange, [], `${seed}: ${how}: ${done} done, ${failed.length} refused`)
        if (failed.length > 0) {
          named++
          t.ok(opened.log.damage().length > 0, 'and what is damaged is named')
        }
        await opened.log.close()
      }
      t.ok(named >= (seeds * 2) / 3, `${named} were found`)
    },
  )

t.test(
  'the first pages are not read while a commit in another thread may write them',
  async (t) => {
    const path = await filled(t)
    const file = join(path, 'data.mdb')
    const guard = pageGuard(file)
    t.teardown(guard.close)
    guard.hold()
    const fd = openSync(file, 'r+')
    writeSync(fd, Buffer.alloc(8_192, 7), 0, 8_192, 0)
    closeSync(fd)
    guard.checkHead()
    await turn()
    guard.checkHead()
    guard.committed()
    t.throws(guard.checkHead, StoreDamaged)
  },
)

/** Zeroes all but the first pages, as if a disk gave back something else. */
const harmQuietly = (file: string) => {
  const { size, atime, mtime } = statSync(file)
  const fd = openSync(file, 'r+')
  writeSync(fd, Buffer.alloc(size - 8_192), 0, size - 8_192, 8_192)
  closeSync(fd)
  utimesSync(file, atime, mtime)
}

t.test('what was looked at is trusted, for a while, until the file is written', async (t) => {
  const path = await filled(t)
  const file = join(path, 'data.mdb')
  let now = 0
  const guard = pageGuard(file, undefined, () => now)
  t.teardown(guard.close)
  const look = () => {
    for (let n = 1; n < 900; n += 3) guard.check('records', n)
    guard.check('records', 500, { removes: true })
    guard.check('records', 'last')
    guard.checkFree()
  }
  // Whole milliseconds, as they can be set again.
  const { atime, mtime } = statSync(file)
  utimesSync(file, atime, mtime)
  t.doesNotThrow(look)
  await turn()
  harmQuietly(file)
  t.doesNotThrow(look)
  guard.committed()
  t.doesNotThrow(look, 'after a commit of this process too')
  await turn()
  t.throws(() => guard.check('answers', 'another key'), StoreDamaged)
  now = 60_000
  t.throws(look, StoreDamaged, 'but not for long')
})

for (const [until, end] of Object.entries({
  'for a while': (_: PageGuard, pass: () => void) => pass(),
  'to the next commit of this process': ({ committed }: PageGuard) => committed(),
}))
  t.test(`pages of ranges are kept ${until}`, async (t) => {
    const path = await filled(t)
    const file = join(path, 'data.mdb')
    let now = 0
    const guard = pageGuard(file, undefined, () => now)
    t.teardown(guard.close)
    const look = () => guard.checkRange('records', 1, 900)
    // Whole milliseconds, as they can be set again.
    const { atime, mtime } = statSync(file)
    utimesSync(file, atime, mtime)
    look()
    await turn()
    harmQuietly(file)
    t.doesNotThrow(look)
    end(guard, () => {
      now = 60_000
    })
    await turn()
    t.throws(look, StoreDamaged)
  })

t.test('a log that is longer than what is kept of it', async (t) => {
  // One on each page.
  const records = 5_000
  const path = join(t.testdir(), 'log')
  const { log, store } = await openedLog(path)
  const note = noted('1'.repeat(1_500))
  await Promise.all(
    Array.from({ length: records }, (_, n) => store.append(`note-${n}`, START, [note])),
  )
  await log.close()
  let pages = 0
  const guard = pageGuard(join(path, 'data.mdb'), undefined, undefined, (size) => {
    pages++
    return emptyPage(size)
  })
  t.teardown(guard.close)

  for (let round = 0; round < 3; round++)
    for (let from = 1; from < records; from += 100) {
      guard.checkRange('records', from, from + 100)
      await turn()
    }
  t.ok(pages >= 2_048, 'some are kept')
  t.ok(pages <= 2_200, `15,000 are read into ${pages}`)

  const cursor = guard.cursor('records', undefined, {})
  let entries = 0
  while (cursor.next()) entries++
  t.equal(entries, records, 'all are read in one turn')
})

t.test('a range is not read on from pages that were forgotten', async (t) => {
  const guard = pageGuard(join(await filled(t), 'data.mdb'))
  t.teardown(guard.close)
  const cursor = guard.cursor('records', undefined, {})
  t.ok(cursor.next())
  guard.committed()
  t.throws(cursor.next, /a range was read for too long/)
})

t.test('a file that somebody else wrote is looked at again', async (t) => {
  const path = await filled(t)
  const file = join(path, 'data.mdb')
  const guard = pageGuard(file)
  t.teardown(guard.close)
  guard.check('records', 100)
  await turn()
  const { size } = statSync(file)
  const fd = openSync(file, 'r+')
  writeSync(fd, Buffer.alloc(size - 8_192), 0, size - 8_192, 8_192)
  closeSync(fd)
  t.throws(() => guard.check('records', 100), StoreDamaged)
  guard.forget()
  t.throws(() => guard.check('records', 100), StoreDamaged)
})
