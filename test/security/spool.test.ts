import { createHash } from 'node:crypto'
import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { Readable } from 'node:stream'
import t from 'tap'
import { StoreUnavailable } from '../../src/ports/event-store.ts'
import { openSpool } from '../../src/security/spool.ts'

const gathered = async (bytes: AsyncIterable<Uint8Array>): Promise<Uint8Array[]> => {
  const pieces: Uint8Array[] = []
  for await (const piece of bytes) pieces.push(piece)
  return pieces
}

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

t.test('files of an earlier process are gone after a start', async (t) => {
  const path = t.testdir({ one: 'a', two: 'b' })
  await openSpool(path)
  t.strictSame(await readdir(path), [])
})

t.test('a file is read from the beginning each time, and gone once it is removed', async (t) => {
  const path = t.testdir()
  const spool = await openSpool(path)
  const file = await spool.keep(Readable.from([Buffer.from('ab'), Buffer.from('cd')]))
  t.equal(file.hash, createHash('sha256').update('abcd').digest('hex'))
  for (let n = 0; n < 2; n++) t.equal(String(Buffer.concat(await gathered(file.bytes()))), 'abcd')
  const [name = ''] = await readdir(path)
  t.notMatch(await readFile(join(path, name), 'latin1'), 'ab', 'it is encrypted')
  await file.remove()
  t.strictSame(await readdir(path), [])
})
