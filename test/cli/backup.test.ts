import { readdirSync, readFileSync, truncateSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { blobName, embeddedLog, fileEvents } from '../support/embedded-log.ts'
import { reprise } from '../support/reprise.ts'

// Each command starts two processes, beside a busy machine.
t.setTimeout(120_000)

const { message, sessionErased } = fileEvents
const key = 'session:org-1/s'

t.test('backs up, lists erasures and restores, with progress', async (t) => {
  const log = embeddedLog(t)
  const env = { DATA_DIR: log.dataDir }
  const [file, list, restored] = ['backup', 'list', 'restored'].map((name) =>
    join(log.target, name),
  )
  log.key(key, 'wrapped')
  log.append('session-org-1_s', [message(key, blobName(1), blobName(2))])
  await log.blob(blobName(1), Buffer.from('one'))

  const backup = await reprise(`backup --out ${file}`, env)
  t.strictSame(backup, {
    code: 0,
    out: `position 0\nmissing ${blobName(2)} of session-org-1_s, position 0\n`,
    err: [
      'events: 100 %',
      'files: 100 %',
      `${file} has 1 events, 1 data keys and 1 files`,
      '1 files are missing: the log names them',
      `The master key is not in it. It is in ${log.dataDir}/master.key: keep a copy elsewhere.`,
      '',
    ].join('\n'),
  })

  log.key(key, null)
  log.append('session-org-1_s', [sessionErased])
  const listing = await reprise('erasures --after 0', env)
  t.match(listing, {
    code: 0,
    out: /^{"reprise_erasures":1,.*}\n{"position":1,"key":"session:org-1\/s"}\n/,
  })
  const output = await reprise(`erasures --after 0 --out ${list}`, env)
  t.match(output, { code: 0, out: '' })
  t.equal(readFileSync(list ?? '', 'utf8'), listing.out)

  const into = { DATA_DIR: restored ?? '', MASTER_KEY: Buffer.alloc(32).toString('base64') }
  const done = await reprise(`restore --from ${file} --erasures ${list}`, into)
  t.equal(done.code, 0)
  t.match(done.out, /^position 0\nreprise\/org-1 1 [A-Za-z0-9+/]{43}=\n$/)
  t.match(done.err, 'erasures up to position 1 are applied: 1 data keys, 1 files')
  t.match(done.err, 'put the master key of the backup into the variable MASTER_KEY')
  t.match(await reprise(`restore --from ${file}`, into), {
    code: 1,
    err: `reprise: ${restored} is not empty\n`,
  })
})

t.test('a command that cannot be carried out says so in one line', async (t) => {
  const { dataDir, target } = embeddedLog(t)
  const env = { DATA_DIR: dataDir }
  const there = join(dataDir, 'log', 'format')
  const file = join(target, 'file')
  const refused = async (args: string, code: number, line: RegExp, more: object = {}) => {
    const { err, ...rest } = await reprise(args, { ...env, ...more })
    t.strictSame(rest, { code, out: '' }, args)
    t.match(err, /^reprise: .*\n$/)
    t.match(err, line)
  }
  await refused('backup', 2, /--out <file> is required/)
  await refused('restore', 2, /--from <file> is required/)
  await refused('erasures', 2, /--after <position> is required/)
  await refused('erasures --after soon', 2, /--after <position> is required/)
  await refused(`backup --out ${there}`, 1, /format exists already/)
  await refused(`backup --out ${file}`, 1, /holds no log/, { DATA_DIR: target })
  await refused(`backup --out ${file}/file`, 1, /file is not there/)
  await refused(`erasures --after 0 --out ${there}`, 1, /format exists already/)
  await refused(`restore --from ${there}`, 1, /is no backup/, { DATA_DIR: target })
  await refused(`restore --from ${file}`, 1, /is not there/, { DATA_DIR: target })
  const databases = { MONGODB_URL: 'mongodb://127.0.0.1:1/x' }
  await refused(`backup --out ${file}`, 1, /use the tools of those databases/, databases)
})

t.test('a data file that was cut ends a command with one line, and nothing is left', async (t) => {
  const log = embeddedLog(t)
  log.together(() => {
    for (let n = 0; n < 1_000; n++) log.append('a', [sessionErased])
  })
  await log.db.root.close()
  truncateSync(log.file, 16_384)
  const env = { DATA_DIR: log.dataDir }
  const file = join(log.target, 'file')
  const failure = {
    code: 1,
    out: '',
    err: /^reprise: the log in .*data is damaged: lmdb ended with SIG[A-Z]+. The next start/,
  }
  t.match(await reprise(`backup --out ${file}`, env), failure)
  t.match(await reprise(`erasures --after 0 --out ${file}`, env), failure)
  t.strictSame(readdirSync(log.target), [])
})
