import { existsSync, mkdirSync, readFileSync, truncateSync, writeFileSync } from 'node:fs'
import { mkdir, readdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import { embeddedBlobs } from '../../../src/adapters/embedded/blobs.ts'
import { holdAlone } from '../../../src/adapters/embedded/lock.ts'
import { backUp, withLog } from '../../../src/app/backup/back-up.ts'
import type { Frame } from '../../../src/app/backup/backup-file.ts'
import { erasureLines } from '../../../src/app/backup/erasures.ts'
import { assertRestored } from '../../../src/app/backup/into-empty.ts'
import { restore } from '../../../src/app/backup/restore.ts'
import { platformId } from '../../../src/domain/event.ts'
import { framesIn, writeFrames } from '../../support/backup-frames.ts'
import { filesIn } from '../../support/blob-files.ts'
import { blobName, embeddedLog, fileEvents, rowsIn, rowsOf } from '../../support/embedded-log.ts'
import { foldLog, treesIn } from '../../support/folded-trees.ts'
import { metadata, recorded } from '../../support/recorded.ts'

const now = Date.parse('2026-03-01T00:00:00Z')
const [liveKey, erasedKey] = ['session:org-1/kept', 'session:org-1/erased']
const { message, sessionErased, upload } = fileEvents
const textEvent = (text: string) => ({ type: 'Said', data: { text } })

/** Bytes of a file; those of file 3 are in two parts. */
const bytesOf = (n: number) => Buffer.alloc(n === 3 ? 1_500_000 : n, `${n}`)

/** A store with two sessions and two uploads, and its backup. */
const backedUp = async (t: Test) => {
  const log = embeddedLog(t)
  log.key(liveKey, 'the key that is kept')
  log.key(erasedKey, 'the key that is erased')
  log.installation('{}')
  log.answer('scope', '{"at":1}')
  log.undelivered('run', 'a\nb')
  log.append('session-org-1_kept', [message(liveKey, blobName(1), blobName(2))])
  log.append('session-org-1_erased', [message(erasedKey, blobName(2), blobName(3))])
  for (const [n, id] of ['u1', 'u2'].entries())
    log.append(`file-org-1_${id}`, [
      upload('UploadReceived', id, { blob: blobName(4) }),
      upload('UploadIndexingStarted', id, { chunksBlob: blobName(5 + n) }),
    ])
  for (let n = 1; n <= 6; n++) await log.blob(blobName(n), bytesOf(n))
  const file = join(log.target, 'backup')
  const { position } = await backUp({ dataDir: log.dataDir, file, now })
  const dataDir = join(log.target, 'restored')
  /** Writes what was erased after a position. */
  const listed = async (after: number = position) => {
    const lines: string[] = []
    await withLog(log.dataDir, async (from) => {
      for await (const line of erasureLines(from, after)) lines.push(`${line}\n`)
    })
    const list = join(log.target, 'erasures')
    await writeFile(list, lines.join(''))
    return list
  }
  const blobsIn = async () =>
    (await filesIn(join(dataDir, 'blobs'))).map((path) => Number.parseInt(path.slice(-64), 16))
  return { log, file, position, dataDir, listed, blobsIn }
}

let backupBytes: Buffer | undefined

/** A backup of such a store, alone in a folder, and a folder to be. */
const onlyBackup = async (t: Test) => {
  backupBytes ??= readFileSync((await backedUp(t)).file)
  const folder = t.testdir({ backup: '' })
  const [file, dataDir] = [join(folder, 'backup'), join(folder, 'restored')]
  writeFileSync(file, backupBytes)
  /** Changes the frames of the backup, which has right checksums again. */
  const craft = async (change: (frames: Frame[]) => Frame[]) =>
    writeFrames(file, change(await framesIn(file)))
  return { folder, file, dataDir, bytes: Buffer.from(backupBytes), craft }
}

t.test('a restored folder has every row and every blob', async (t) => {
  const { log, file, dataDir } = await backedUp(t)
  const steps: string[] = []
  const progress = (what: string, done: number, total: number) =>
    steps.push(`${what} ${Math.floor((100 * done) / total)}`)
  const done = await restore({ file, dataDir, progress })
  t.match(done, { position: 5, events: 6, created_at: '2026-03-01T00:00:00.000Z' })
  t.notOk('erased' in done)
  t.strictSame(await rowsIn(dataDir), rowsOf(log.db))
  t.strictSame((await readdir(dataDir)).toSorted(), ['blobs', 'log'])
  const blobs = await embeddedBlobs(join(dataDir, 'blobs'))
  for (let n = 1; n <= 6; n++) {
    const bytes = Buffer.concat((await (await blobs.get(blobName(n)))?.toArray()) ?? [])
    t.ok(bytes.equals(bytesOf(n)))
  }
  t.equal(steps.at(-1), 'bytes 100')
})

t.test('a backup of a restored folder is the same, byte for byte', async (t) => {
  const { log, file, dataDir } = await backedUp(t)
  await restore({ file, dataDir })
  const again = join(log.target, 'again')
  await backUp({ dataDir, file: again, now })
  t.ok(readFileSync(again).equals(readFileSync(file)))
})

t.test('an empty store is restored', async (t) => {
  const log = embeddedLog(t)
  const [file, dataDir] = [join(log.target, 'backup'), join(log.target, 'restored')]
  await backUp({ dataDir: log.dataDir, file, now })
  t.match(await restore({ file, dataDir }), { position: -1, events: 0, roots: [] })
  t.strictSame((await readdir(dataDir)).toSorted(), ['blobs', 'log'])
})

t.test('the roots are those of the transparency logs', async (t) => {
  const log = embeddedLog(t)
  const owners = ['org-1', 'org-2', platformId]
  const events = Array.from({ length: 300 }, (_, n) => {
    const organization_id = owners[n % 3] ?? ''
    return {
      stream: `thing-${organization_id}_${n % 7}`,
      ...textEvent(`${n}`),
      metadata: { ...metadata, organization_id },
    }
  })
  log.together(() => {
    for (const { stream, metadata, ...event } of events) log.append(stream, [event], metadata)
  })
  const ids = rowsOf(log.db).records?.map(([, text]) => JSON.parse(`${text}`)[3][0][0]) ?? []
  const same = recorded(events.map((event, n) => ({ ...event, id: ids[n] ?? '' })))
  const trees = treesIn(await foldLog(same, [10]))
  const file = join(log.target, 'backup')
  await backUp({ dataDir: log.dataDir, file, now })
  const { roots } = await restore({ file, dataDir: join(log.target, 'restored') })
  t.strictSame(
    roots.map(({ origin, size }) => [origin, size]),
    owners.map((owner) => [`reprise/${owner}`, 100]),
  )
  for (const [n, owner] of ['org-1', 'org-2'].entries()) {
    const tree = await trees(owner)
    t.equal(roots[n]?.root, (await tree.root(100)).toString('base64'))
  }
})

t.test('erasures after the backup are applied before anything can be read', async (t) => {
  const { log, file, dataDir, listed, blobsIn } = await backedUp(t)
  log.key(erasedKey, null)
  const last = log.append('session-org-1_erased', [sessionErased])
  const done = await restore({ file, dataDir, erasures: await listed() })
  t.strictSame(done.erased, { upTo: last, keys: 1, files: 1 })
  t.strictSame(await blobsIn(), [1, 2, 4, 5, 6])
  const data = readFileSync(join(dataDir, 'log', 'data.mdb'))
  t.notOk(data.includes('the key that is erased'))
  t.ok(data.includes('the key that is kept'))
  t.strictSame((await rowsIn(dataDir)).keys, rowsOf(log.db).keys)
  t.match(await backUp({ dataDir, file: join(log.target, 'again'), now }), { missing: [] })
})

t.test('an erased key that nothing in the backup uses leaves its name free', async (t) => {
  const log = embeddedLog(t)
  log.key('memory:org-1/u', 'made before its first event')
  log.append('session-org-1_kept', [message(liveKey)])
  const [file, list] = [join(log.target, 'backup'), join(log.target, 'list')]
  await backUp({ dataDir: log.dataDir, file, now })
  log.key('memory:org-1/u', null)
  const lines: string[] = []
  await withLog(log.dataDir, async (from) => {
    for await (const line of erasureLines(from, 0)) lines.push(line)
  })
  await writeFile(list, lines.join('\n'))
  const dataDir = join(log.target, 'restored')
  t.match((await restore({ file, dataDir, erasures: list })).erased, { keys: 1 })
  t.strictSame((await rowsIn(dataDir)).keys, [])
})

t.test('files of removed uploads are not restored, unless another upload has them', async (t) => {
  const { log, file, dataDir, listed, blobsIn } = await backedUp(t)
  log.append('file-org-1_u1', [upload('UploadRemoved', 'u1', { reason: 'deleted' })])
  const done = await restore({ file, dataDir, erasures: await listed() })
  t.match(done.erased, { keys: 0, files: 1 })
  t.strictSame(await blobsIn(), [1, 2, 3, 4, 6])
})

t.test('files of an upload that was replaced are restored', async (t) => {
  const { log, file, dataDir, listed } = await backedUp(t)
  log.append('file-org-1_u1', [upload('UploadRemoved', 'u1', { reason: 'replaced' })])
  const done = await restore({ file, dataDir, erasures: await listed() })
  t.match(done.erased, { keys: 0, files: 0 })
})

t.test('a folder that is not empty is refused and stays as it is', async (t) => {
  const { file, dataDir } = await onlyBackup(t)
  await mkdir(dataDir)
  writeFileSync(join(dataDir, 'mine'), 'mine')
  await t.rejects(restore({ file, dataDir }), { name: 'TargetExists', message: /is not empty/ })
  t.strictSame(await readdir(dataDir), ['mine'])
})

t.test('a file that is no backup, or a backup of another format, is refused', async (t) => {
  const { folder, file, dataDir, bytes } = await onlyBackup(t)
  const other = join(folder, 'other')
  const refused = (path: string, message: RegExp) =>
    t.rejects(restore({ file: path, dataDir }), { name: 'RestoreRefused', message })
  await refused(other, /is not there/)
  writeFileSync(other, '')
  await refused(other, /is no backup/)
  writeFileSync(other, 'not a backup, but a text'.repeat(100))
  await refused(other, /is no backup/)
  bytes.write('2', bytes.indexOf('1\n'))
  writeFileSync(file, bytes)
  await refused(file, /is a backup in format 2: this release reads format 1/)
  t.notOk(existsSync(dataDir))
})

t.test('a backup that was cut anywhere is refused, and nothing is left', async (t) => {
  const { file, dataDir, bytes } = await onlyBackup(t)
  const { length } = bytes
  const damaged = { name: 'StoreDamaged', message: /its end is missing/ }
  for (const end of [length - 1, length - 100, 1_000_000, 2_000, 100, 20]) {
    truncateSync(file, end)
    await t.rejects(restore({ file, dataDir }), damaged, `${end}`)
    t.strictSame(await readdir(dataDir), [])
  }
})

t.test('a flipped bit anywhere is refused, and nothing is left', async (t) => {
  const { file, dataDir, bytes } = await onlyBackup(t)
  const first = bytes.indexOf('\n') + 1
  const places = Array.from({ length: 40 }, (_, n) => first + n * 47)
  for (const at of [...places, 500_000, 1_200_000, bytes.length - 1]) {
    const flipped = Buffer.from(bytes)
    flipped.writeUInt8(flipped.readUInt8(at) ^ (1 << (at % 8)), at)
    writeFileSync(file, flipped)
    await t.rejects(restore({ file, dataDir }), { name: 'StoreDamaged' }, `byte ${at}`)
  }
  t.strictSame(await readdir(dataDir), [])
})

t.test('a length that the file does not have takes no memory', async (t) => {
  const { file, dataDir, bytes } = await onlyBackup(t)
  const at = bytes.indexOf('\n') + 1
  const before = process.memoryUsage().arrayBuffers
  for (const [length, message] of [
    [0xffff_ffff, /too long/],
    [64 * 1024 * 1024, /its end is missing/],
  ] as const) {
    bytes.writeUInt32LE(length, at)
    writeFileSync(file, bytes.subarray(0, 1_000))
    await t.rejects(restore({ file, dataDir }), { name: 'StoreDamaged', message })
  }
  t.ok(process.memoryUsage().arrayBuffers - before < 32 * 1024 * 1024)
})

const is =
  <K extends Frame['kind']>(kind: K) =>
  (frame: Frame): frame is Frame<K> =>
    frame.kind === kind

/** Replaces the first frame of a kind. */
const replaced = <K extends Frame['kind']>(
  frames: readonly Frame[],
  kind: K,
  change: (frame: Frame<K>) => Frame[],
): Frame[] => {
  const at = frames.findIndex(is(kind))
  return [...frames.slice(0, at), ...change(frames[at] as Frame<K>), ...frames.slice(at + 1)]
}

const text = (value: unknown) => Buffer.from(JSON.stringify(value))

const crafted: Record<string, { change(frames: Frame[]): Frame[]; message: RegExp }> = {
  'lost events': {
    change: (frames) => replaced(frames, 'records', () => []),
    message: /events are lost/,
  },
  'events after its last position': {
    change: (frames) => replaced(frames, 'log', (log) => [{ ...log, position: 3 as never }]),
    message: /the record at position 5/,
  },
  'no events up to its last position': {
    change: (frames) => replaced(frames, 'log', (log) => [{ ...log, position: 9 as never }]),
    message: /nothing is behind position 5/,
  },
  'an event twice': {
    change: (frames) => replaced(frames, 'records', (record) => [record, record]),
    message: /the record at position 0/,
  },
  'a stream with a gap': {
    change: (frames) =>
      replaced(frames, 'records', (record) => [
        { ...record, bytes: text(['a', 7, {}, [['id', 'Said', {}]]]) },
      ]),
    message: /a has a gap before position 0/,
  },
  'a record that is no JSON': {
    change: (frames) =>
      replaced(frames, 'records', (record) => [{ ...record, bytes: Buffer.from('{') }]),
    message: /the record at position 0/,
  },
  'a record without events': {
    change: (frames) =>
      replaced(frames, 'records', (record) => [{ ...record, bytes: text(['a', 0, {}, []]) }]),
    message: /the record at position 0/,
  },
  'a record whose parts are of other types': {
    change: (frames) =>
      replaced(frames, 'records', (record) => [
        { ...record, bytes: text([{}, '0', null, [[1, 2, 3]]]) },
      ]),
    message: /the record at position 0/,
  },
  'a record of more events than positions': {
    change: (frames) =>
      replaced(frames, 'records', (record) => [
        { ...record, bytes: text(['a', 0, {}, Array(9).fill(['id', 'Said', {}])]) },
      ]),
    message: /the record at position 0/,
  },
  'a stream whose name is too long': {
    change: (frames) =>
      replaced(frames, 'records', (record) => [
        { ...record, bytes: text(['a'.repeat(5_000), 0, {}, [['id', 'Said', {}]]]) },
      ]),
    message: /not a name/,
  },
  'a data key whose name is too long': {
    change: (frames) => replaced(frames, 'keys', (key) => [{ ...key, key: 'k'.repeat(5_000) }]),
    message: /not a name/,
  },
  'lost data keys': {
    change: (frames) => frames.filter((frame) => !is('keys')(frame)),
    message: /keys are lost/,
  },
  'data keys before the log': {
    change: (frames) => frames.toSorted((a, b) => Number(is('keys')(b)) - Number(is('keys')(a))),
    message: /where its begin should be, it has keys/,
  },
  'a lost part of a file': {
    change: (frames) => frames.filter((frame) => !(is('blobs')(frame) && frame.part === 1)),
    message: /the parts of file 0*5|parts are lost/,
  },
  'parts of a file in another order': {
    change: (frames) =>
      frames.map((frame) => (frame.kind === 'blobs' ? { ...frame, part: 1 - frame.part } : frame)),
    message: /the parts of file/,
  },
  'a lost file': {
    change: (frames) => replaced(frames, 'blobs', () => []),
    message: /blobs are lost/,
  },
  'another end': {
    change: (frames) => [...frames, ...frames.slice(-1)],
    message: /something is behind its end/,
  },
}

for (const [what, { change, message }] of Object.entries(crafted))
  t.test(`a backup with right checksums and ${what} is refused, and nothing is left`, async (t) => {
    const { file, dataDir, craft } = await onlyBackup(t)
    await craft(change)
    await t.rejects(restore({ file, dataDir }), { name: 'StoreDamaged', message })
    t.strictSame(await readdir(dataDir), [])
  })

for (const name of ['../../../evil', '/tmp/evil', `${'a'.repeat(61)}/..`, 'A'.repeat(64), ''])
  t.test(`a file that is named ${name || 'by nothing'} is not written`, async (t) => {
    const { folder, file, dataDir, craft } = await onlyBackup(t)
    await craft((frames) => replaced(frames, 'blobs', (blob) => [{ ...blob, name }, blob]))
    await t.rejects(restore({ file, dataDir }), { name: 'StoreDamaged', message: /unknown form/ })
    t.strictSame(await readdir(dataDir), [])
    t.strictSame((await readdir(folder)).toSorted(), ['backup', 'restored'])
  })

t.test('an interrupted restore leaves nothing', async (t) => {
  const { file, dataDir } = await onlyBackup(t)
  const ending = new AbortController()
  const progress = (_: string, done: number, total: number) => {
    if (done === total) ending.abort(new Error('enough'))
    ending.signal.throwIfAborted()
  }
  const restoring = restore({ file, dataDir, progress, signal: ending.signal })
  await t.rejects(restoring, { message: 'enough' })
  t.strictSame(await readdir(dataDir), [])
})

t.test('a restore that was killed can be repeated, and no server starts before', async (t) => {
  const { log, file, dataDir } = await backedUp(t)
  mkdirSync(join(dataDir, 'restoring', 'log'), { recursive: true })
  writeFileSync(join(dataDir, 'restoring', 'log', 'data.mdb'), 'half')
  mkdirSync(join(dataDir, 'blobs', 'ab'), { recursive: true })
  t.throws(() => assertRestored(dataDir), { name: 'RestoreUnfinished', message: /repeat it/ })
  await restore({ file, dataDir })
  t.strictSame(await rowsIn(dataDir), rowsOf(log.db))
  t.strictSame((await readdir(dataDir)).toSorted(), ['blobs', 'log'])
  assertRestored(dataDir)
})

t.test('a restore beside another one into the same folder is refused', async (t) => {
  const { file, dataDir } = await onlyBackup(t)
  mkdirSync(join(dataDir, 'restoring', 'log'), { recursive: true })
  const release = await holdAlone(join(dataDir, 'restoring'))
  await t.rejects(restore({ file, dataDir }), { name: 'StoreInUse' })
  t.ok(existsSync(join(dataDir, 'restoring', 'log')))
  release()
})

t.test('a list of another log, of a later time, or not whole, is refused', async (t) => {
  const { log, file, dataDir, listed, position } = await backedUp(t)
  log.key(erasedKey, null)
  const last = log.append('session-org-1_erased', [sessionErased])
  const refused = (erasures: string, message: RegExp) =>
    t.rejects(restore({ file, dataDir, erasures }), { message })
  const late = await listed(last)
  await refused(late, new RegExp(`write one with --after ${position}$`))
  const list = await listed()
  const text = await readFile(list, 'utf8')
  await writeFile(list, text.slice(0, text.lastIndexOf('{')))
  await refused(list, /is not whole/)
  await writeFile(list, text.replace(/^.*"key".*\n/m, ''))
  await refused(list, /is not whole/)
  await writeFile(list, text.replace('"key"', '"kay"'))
  await refused(list, /is damaged after line 1/)
  await writeFile(list, text.replace(/"log":"[^"]*"/, '"log":"other"'))
  await refused(list, /of another log/)
  await writeFile(list, 'no list')
  await refused(list, /is no list of erasures/)
  t.strictSame(await readdir(dataDir), [])
})
