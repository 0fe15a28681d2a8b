import { readdir } from 'node:fs/promises'
import { Readable } from 'node:stream'
import t from 'tap'
import { StoreUnavailable } from '../../src/ports/event-store.ts'
import { openSpool } from '../../src/security/spool.ts'

t.test('a full disk refuses a file and leaves no partial file', async (t) => {
  const path = t.testdir()
  let free = 2
  const spool = await openSpool(path, (bytes) => {
    free -= bytes
    if (free < 0) throw new StoreUnavailable('full')
  })
  const bytes = () => Readable.from([Buffer.from('ab'), Buffer.from('cd')])
  await t.rejects(spool.keep(bytes()), StoreUnavailable)
  t.strictSame(await readdir(path), [])
  free = 4
  t.match(await spool.keep(bytes()), { size: 4 })
})
