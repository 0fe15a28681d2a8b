import { existsSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { readdir } from 'node:fs/promises'
import { join } from 'node:path'
import t from 'tap'
import { backUp } from '../../../src/app/backup/back-up.ts'
import { type Frame, makeFile } from '../../../src/app/backup/backup-file.ts'
import { framesIn } from '../../support/backup-frames.ts'
import { blobName, embeddedLog, fileEvents, rowsOf } from '../../support/embedded-log.ts'

const now = Date.parse('2026-03-01T00:00:00Z')
const textEvent = (text: string) => ({ type: 'Said', data: { text } })

const ofKind = <K extends Frame['kind']>(frames: readonly Frame[], kind: K) =>
  frames.filter((frame): frame is Frame<K> => frame.kind === kind)

/** Rows of a table in a backup, as `rowsOf` has those of a log. */
const rowsIn = (
  frames: readonly Frame[],
  kind: 'answers' | 'undelivered' | 'installation' | 'keys',
) => ofKind(frames, kind).map(({ key, bytes }) => [key, `${bytes}`])

t.test('a backup has every row of the log, and every blob', async (t) => {
  const log = embeddedLog(t)
  const file = join(log.target, 'backup')
  log.append('a', [textEvent('one'), textEvent('two')])
  log.together(() => {
    for (let n = 0; n < 2_500; n++) log.append(n % 2 ? 'a' : `b${n}`, [textEvent(`${n}`)])
  })
  log.key('session:o/1', 'wrapped')
  log.key('session:o/2', null)
  log.installation('{}')
  log.answer('scope', '{"at":1}')
  log.undelivered('run', 'a\nb')
  const large = Buffer.alloc(2_500_000, 'large')
  await log.blob(blobName(1), large)
  await log.blob(blobName(2), Buffer.alloc(0))

  const steps: string[] = []
  const progress = (...step: unknown[]) => steps.push(step.join(' '))
  const summary = await backUp({ dataDir: log.dataDir, file, now, progress })
  t.strictSame(summary, {
    position: 2_501,
    events: 2_502,
    records: 2_501,
    keys: 2,
    installation: 1,
    answers: 1,
    undelivered: 1,
    blobs: 2,
    parts: 4,
    missing: [],
  })
  const frames = await framesIn(file)
  const rows = rowsOf(log.db)
  t.strictSame(
    ofKind(frames, 'records').map(({ position, bytes }) => [position, `${bytes}`]),
    rows.records,
  )
  for (const table of ['answers', 'undelivered', 'installation'] as const)
    t.strictSame(rowsIn(frames, table), rows[table])
  t.strictSame(rowsIn(frames, 'keys'), [
    ['session:o/1', 'wrapped'],
    ['session:o/2', ''],
  ])
  const parts = ofKind(frames, 'blobs').filter(({ name }) => name === blobName(1))
  t.ok(Buffer.concat(parts.map(({ bytes }) => bytes)).equals(large))
  t.strictSame(steps, [
    'events 1001 2502',
    'events 2001 2502',
    'events 2502 2502',
    'files 1 2',
    'files 2 2',
  ])
  t.equal(statSync(file).mode & 0o777, 0o600)
})

t.test('large answers are read some at a time', async (t) => {
  const log = embeddedLog(t)
  const file = join(log.target, 'backup')
  for (let n = 0; n < 5; n++) log.answer(`scope-${n}`, 'a'.repeat(5_000_000))
  log.answer('scope-6', 'small')
  const sizes: number[] = []
  const room = (bytes: number) => sizes.push(bytes)
  t.match(await backUp({ dataDir: log.dataDir, file, now, room }), { answers: 6 })
  t.ok(Math.max(...sizes) < 6_000_000)
  t.strictSame(rowsIn(await framesIn(file), 'answers'), rowsOf(log.db).answers)
})

t.test('an empty store is backed up', async (t) => {
  const { dataDir, target } = embeddedLog(t)
  const summary = await backUp({ dataDir, file: join(target, 'backup'), now })
  t.match(summary, { position: -1, events: 0, missing: [] })
})

t.test('events after the beginning are left out, keys destroyed after it are not', async (t) => {
  const log = embeddedLog(t)
  const file = join(log.target, 'backup')
  log.append('a', [textEvent('before')])
  log.key('session:o/1', 'wrapped')
  const progress = () => {
    log.append('a', [textEvent('after')])
    log.append('b', [textEvent('after')])
    log.key('session:o/1', null)
    log.key('session:o/2', 'later')
    log.answer('later', '{}')
  }
  const summary = await backUp({ dataDir: log.dataDir, file, now, progress })
  t.match(summary, { position: 0, events: 1, keys: 2, answers: 0 })
  t.strictSame(rowsIn(await framesIn(file), 'keys'), [
    ['session:o/1', ''],
    ['session:o/2', 'later'],
  ])
})

t.test('no read transaction is open while a page is written', async (t) => {
  const log = embeddedLog(t)
  log.together(() => {
    for (let n = 0; n < 2_500; n++) log.append('a', [textEvent(`${n}`)])
  })
  const open: string[] = []
  const room = () => {
    log.db.root.resetReadTxn()
    open.push(
      ...log.db.root
        .readerList()
        .split('\n')
        .filter((line) => / \d+$/.test(line)),
    )
  }
  await backUp({ dataDir: log.dataDir, file: join(log.target, 'backup'), now, room })
  t.strictSame(open, [])
})

t.test('data keys are copied again where the master key was replaced meanwhile', async (t) => {
  const log = embeddedLog(t)
  const keys = (master: string) =>
    log.together(() => {
      for (let n = 0; n < 1_500; n++) log.key(`key-${n}`, master)
      log.installation(master)
    })
  keys('old')
  const file = join(log.target, 'backup')
  let rooms = 0
  const room = () => {
    // Once the first page of the keys is read.
    if (++rooms === 2) keys('new')
  }
  await backUp({ dataDir: log.dataDir, file, now, room })
  const frames = await framesIn(file)
  t.strictSame(
    rowsIn(frames, 'installation').map(([, value]) => value),
    ['old', 'new'],
  )
  const last = new Map(rowsIn(frames, 'keys') as [string, string][])
  t.equal(last.size, 1_500)
  t.strictSame(new Set(last.values()), new Set(['new']))
})

t.test('a file that the log names and that is not stored is listed', async (t) => {
  const log = embeddedLog(t)
  const { message, requested, completed, contentErased, sessionErased, upload } = fileEvents
  const [key, erased] = ['session:org-1/s1', 'session:org-1/s2']
  const blob = blobName
  log.key(key, 'wrapped')
  log.key(erased, null)
  log.append('session-org-1_s1', [message(key, blob(1), blob(2))])
  log.append('session-org-1_s2', [message(erased, blob(3))])
  log.append('session-org-1_s3', [message(key, blob(4)), sessionErased])
  log.append('content-org-1_c1', [requested(key), completed(blob(5))])
  log.append('content-org-1_c2', [requested(key), completed(blob(6)), contentErased])
  log.append('content-org-1_c3', [requested(key)])
  log.append('file-org-1_f1', [
    upload('UploadReceived', 'u1', { blob: blob(7) }),
    upload('UploadIndexingStarted', 'u1', { chunksBlob: blob(8) }),
    upload('UploadEmbedded', 'u1', { vectorsBlob: blob(9) }),
    upload('UploadReread', 'u1', { chunksBlob: blob(10) }),
    upload('UploadReread', 'u1'),
  ])
  log.append('file-org-1_f2', [
    upload('UploadReceived', 'u2', { blob: blob(11) }),
    upload('UploadIndexingStarted', 'u2', { chunksBlob: blob(12) }),
    upload('UploadRequeued', 'u2'),
  ])
  log.append('file-org-1_f3', [
    upload('UploadReceived', 'u3', { blob: blob(13) }),
    upload('UploadRemoved', 'u3', { reason: 'deleted' }),
  ])
  await log.blob(blob(1), Buffer.from('one'))
  await log.blob(blob(7), Buffer.from('seven'))
  const { missing } = await backUp({ dataDir: log.dataDir, file: join(log.target, 'b'), now })
  t.strictSame(
    missing.map(({ name, owner, position }) => [Number.parseInt(name, 16), owner, position]),
    [
      [2, 'session-org-1_s1', 0],
      [5, 'content-org-1_c1', 5],
      [10, 'upload-u1', 13],
      [11, 'upload-u2', 15],
    ],
  )
})

t.test('an existing target is refused and stays as it is', async (t) => {
  const { dataDir, target: folder } = embeddedLog(t)
  writeFileSync(join(folder, 'backup'), 'mine')
  writeFileSync(join(folder, 'other.partial'), 'half')
  for (const [name, there] of [
    ['backup', 'backup'],
    ['other', 'other.partial'],
  ] as const)
    await t.rejects(backUp({ dataDir, file: join(folder, name), now }), {
      name: 'TargetExists',
      message: new RegExp(`${there} exists already`),
    })
  t.equal(readFileSync(join(folder, 'backup'), 'utf8'), 'mine')
  t.strictSame((await readdir(folder)).toSorted(), ['backup', 'other.partial'])
})

t.test('a target that appears meanwhile is refused', async (t) => {
  const file = join(t.testdir(), 'backup')
  const attempt = makeFile(file, async () => writeFileSync(file, 'mine'))
  await t.rejects(attempt, { name: 'TargetExists' })
  t.equal(readFileSync(file, 'utf8'), 'mine')
  t.notOk(existsSync(`${file}.partial`))
})

t.test('an interrupted backup leaves nothing', async (t) => {
  const log = embeddedLog(t)
  log.append('a', [textEvent('one')])
  const folder = log.target
  const ending = new AbortController()
  const attempt = backUp({
    dataDir: log.dataDir,
    file: join(folder, 'backup'),
    now,
    room: () => ending.abort(new Error('enough')),
    signal: ending.signal,
    progress: () => ending.signal.throwIfAborted(),
  })
  await t.rejects(attempt, { message: 'enough' })
  t.strictSame(await readdir(folder), [])
})

t.test('a disk without room ends a backup, which leaves nothing', async (t) => {
  const log = embeddedLog(t)
  log.append('a', [textEvent('one')])
  const folder = log.target
  const room = (bytes: number) => {
    if (bytes > 0) throw new Error('no room')
  }
  const attempt = backUp({ dataDir: log.dataDir, file: join(folder, 'backup'), now, room })
  await t.rejects(attempt, { message: 'no room' })
  t.strictSame(await readdir(folder), [])
})

t.test('a folder without a log, or with one of another format, is refused', async (t) => {
  const { dataDir, target } = embeddedLog(t)
  const file = join(target, 'backup')
  await t.rejects(backUp({ dataDir: target, file, now }), { name: 'NoLog' })
  writeFileSync(join(dataDir, 'log', 'format'), '99')
  await t.rejects(backUp({ dataDir, file, now }), { name: 'StoreFormat' })
  t.notOk(existsSync(file))
})

type Log = ReturnType<typeof embeddedLog>

/** Replaces the bytes of a record, in front of which is its checksum. */
const spoil = ({ db }: Log, position: number) => {
  const stored = db.records.getBinary(position) ?? Buffer.alloc(0)
  const spoilt = Buffer.from(stored)
  spoilt.writeUInt8(spoilt.readUInt8(20) ^ 1, 20)
  db.records.putSync(position, spoilt as unknown as string)
}

const damages: Record<string, { damage(log: Log): unknown; message: RegExp }> = {
  'an altered event': {
    damage: (log) => spoil(log, 1),
    message: /damaged at position 1/,
  },
  'an event in another stream': {
    damage: ({ db }) => {
      db.streams.removeSync(['a', 1])
      db.streams.putSync(['c', 0], 1)
    },
    message: /position 1 is not in its stream/,
  },
  'a lost event': {
    damage: ({ db }) => db.records.removeSync(1),
    message: /3 records, 4 in streams/,
  },
  'an event that is lost in its stream too': {
    damage: ({ db }) => {
      db.records.removeSync(1)
      db.streams.removeSync(['a', 1])
    },
    message: /a has a gap before position 2/,
  },
  'an altered answer': {
    damage: ({ db }) =>
      db.answers.putSync('scope', Buffer.from('0000{"at":1}') as unknown as string),
    message: /damaged in answers/,
  },
}

for (const [what, { damage, message }] of Object.entries(damages))
  t.test(`${what} ends a backup, which leaves nothing`, async (t) => {
    const log = embeddedLog(t)
    for (const text of ['one', 'two', 'three']) log.append('a', [textEvent(text)])
    log.append('b', [textEvent('four')])
    log.key('session:o/1', 'wrapped')
    log.answer('scope', '{"at":1}')
    damage(log)
    const folder = log.target
    const attempt = backUp({ dataDir: log.dataDir, file: join(folder, 'backup'), now })
    await t.rejects(attempt, { name: 'StoreDamaged', message })
    t.strictSame(await readdir(folder), [])
  })

t.test('a blob that is removed meanwhile is missing', async (t) => {
  const log = embeddedLog(t)
  const blobs = [blobName(1), `ff${blobName(2).slice(2)}`]
  log.key('session:org-1/s1', 'wrapped')
  log.append('session-org-1_s1', [fileEvents.message('session:org-1/s1', ...blobs)])
  for (const blob of blobs) await log.blob(blob, Buffer.from('bytes'))
  const progress = (what: string) => {
    if (what === 'files') rmSync(join(log.dataDir, 'blobs', 'ff'), { recursive: true, force: true })
  }
  const summary = await backUp({ dataDir: log.dataDir, file: join(log.target, 'b'), now, progress })
  t.match(summary, { blobs: 1, missing: [{ name: blobs[1] }] })
})

t.test('a blob that is removed with its data key meanwhile is erased, not missing', async (t) => {
  const log = embeddedLog(t)
  const key = 'session:org-1/s1'
  log.key(key, 'wrapped')
  log.append('session-org-1_s1', [fileEvents.message(key, blobName(1))])
  await log.blob(blobName(1), Buffer.from('bytes'))
  const progress = () => {
    log.key(key, null)
    rmSync(join(log.dataDir, 'blobs'), { recursive: true })
  }
  const summary = await backUp({ dataDir: log.dataDir, file: join(log.target, 'b'), now, progress })
  t.match(summary, { blobs: 0, missing: [] })
})
