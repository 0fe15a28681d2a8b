import { mkdtemp, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import { masterKeyOf } from '../../src/app/master-key.ts'

const folder = async (t: Test) => {
  const path = await mkdtemp(join(tmpdir(), 'reprise-'))
  t.teardown(() => rm(path, { recursive: true, force: true }))
  return path
}

const given = { MASTER_KEY: undefined }

t.test(
  'a master key is created once, readable by its owner alone, without other files',
  async (t) => {
    const DATA_DIR = await folder(t)
    const masterKeys = await Promise.all([1, 2, 3].map(() => masterKeyOf({ ...given, DATA_DIR })))
    for (const key of masterKeys) {
      t.equal(key.length, 32)
      t.strictSame([...key], [...(masterKeys[0] ?? [])])
    }
    t.strictSame(await readdir(DATA_DIR), ['master.key'])
    t.equal((await stat(join(DATA_DIR, 'master.key'))).mode & 0o777, 0o600)
  },
)

for (const [what, text] of Object.entries({
  'an empty file': '',
  'half a key': Buffer.alloc(16, 1).toString('base64'),
  'no base64': '~'.repeat(44),
}))
  t.test(`${what} is refused by the file's name, and left as it is`, async (t) => {
    const DATA_DIR = await folder(t)
    const path = join(DATA_DIR, 'master.key')
    await writeFile(path, text)
    await t.rejects(masterKeyOf({ ...given, DATA_DIR }), {
      name: 'MasterKeyDamaged',
      message: new RegExp(path),
    })
    t.equal(await readFile(path, 'utf8'), text)
  })
