import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import { withLog } from '../../../src/app/backup/back-up.ts'
import { erasureLines, readErasures } from '../../../src/app/backup/erasures.ts'
import { embeddedLog, fileEvents } from '../../support/embedded-log.ts'

const { sessionErased, upload } = fileEvents

const listed = async (dataDir: string, after: number): Promise<string[]> => {
  const lines: string[] = []
  await withLog(dataDir, async (from) => {
    for await (const line of erasureLines(from, after)) lines.push(line)
  })
  return lines
}

const erasure = (type: string, ...keyIds: readonly string[]) => ({ type, data: { keyIds } })

/** A store in which every kind of data key was destroyed, before position 2 and after. */
const erasedStore = (t: Test) => {
  const log = embeddedLog(t)
  const names = [
    'session:org-1/early',
    'session:org-1/late',
    'session:org-1/untold',
    'memory:org-1/u',
    'credentials:org-1/u',
    'member:org-1/u',
    'user:u',
    'datastore:org-1/ds',
  ]
  log.key('session:org-1/kept', 'wrapped')
  for (const name of names) log.key(name, null)
  log.append('session-org-1_early', [sessionErased])
  log.append('file-org-1_f0', [upload('UploadRemoved', 'u0', { reason: 'deleted' })])
  log.append('session-org-1_late', [{ type: 'Said', data: {} }])
  log.append('session-org-1_late', [sessionErased])
  log.append('memory-org-1_u', [erasure('MemoriesErased', 'memory:org-1/u')])
  log.append('credentials-org-1_u', [erasure('CredentialsErased', 'credentials:org-1/u')])
  log.append('user-u', [erasure('AccountErased', 'user:u')])
  log.append('member-org-1_u', [erasure('PersonalDataErased', 'memory:org-1/u', 'member:org-1/u')])
  log.append('datastores-org-1', [{ type: 'DataStoreCleared', data: { datastoreId: 'ds' } }])
  log.append('file-org-1_f1', [
    upload('UploadRemoved', 'u1', { reason: 'deleted' }),
    upload('UploadRemoved', 'u2', { reason: 'replaced' }),
    upload('UploadRemoved', 'u3', { reason: 'datastore_deleted' }),
    upload('UploadErased', 'u1'),
  ])
  const log_id: string = JSON.parse(log.db.records.get(0) ?? '')[3][0][0]
  return { ...log, log_id }
}

t.test('keys and uploads erased after a position are listed with their positions', async (t) => {
  const { dataDir, log_id } = erasedStore(t)
  const lines = (await listed(dataDir, 2)).map((line) => JSON.parse(line))
  t.strictSame(lines, [
    { reprise_erasures: 1, log: log_id, after: 2, position: 12 },
    { position: 8, key: 'datastore:org-1/ds' },
    { position: 3, key: 'session:org-1/late' },
    { position: 5, key: 'credentials:org-1/u' },
    { position: 7, key: 'member:org-1/u' },
    { position: 4, key: 'memory:org-1/u' },
    { position: null, key: 'session:org-1/untold' },
    { position: 6, key: 'user:u' },
    { position: 9, upload: 'u1' },
    { position: 11, upload: 'u3' },
    { end: 9 },
  ])
})

t.test('a list is read as it was written', async (t) => {
  const { dataDir, target } = erasedStore(t)
  const file = join(target, 'list')
  await writeFile(file, `${(await listed(dataDir, -1)).join('\n')}\n`)
  const { after, position, keys, uploads } = await readErasures(file)
  t.strictSame({ after, position, keys: keys.size }, { after: -1, position: 12, keys: 8 })
  t.ok(keys.has('session:org-1/early'))
  t.strictSame([...uploads], ['u0', 'u1', 'u3'])
})

t.test('a damaged log ends a list', async (t) => {
  const { dataDir, db } = erasedStore(t)
  const damaged = Buffer.from('0000["memory-org-1_u",0,{},[]]')
  db.records.putSync(4, damaged as unknown as string)
  await t.rejects(listed(dataDir, 2), { name: 'StoreDamaged', message: /position 4/ })
})
