import { createHash, randomBytes } from 'node:crypto'
import type { Test } from 'tap'
import { type Blobs, BlobTooLarge } from '../../src/ports/blobs.ts'

async function* of(...parts: readonly (string | Uint8Array)[]) {
  for (const part of parts) yield Buffer.from(part)
}

async function* broken() {
  yield Buffer.from('some of it')
  throw new RangeError('the line went dead')
}

const sha256 = (bytes: string | Uint8Array) => createHash('sha256').update(bytes).digest('hex')
const nowhere = sha256('nobody stored this')

/** What every blob store owes its callers. `reopen` opens the same store as after a restart. */
export const blobsContract = (
  t: Test,
  open: (t: Test) => Promise<{ blobs: Blobs; reopen(): Promise<Blobs> }>,
  /** The name of what has this SHA-256. */
  nameOf = (hash: string) => hash,
) => {
  const named = (bytes: string | Uint8Array) => nameOf(sha256(bytes))
  const read = async (blobs: Blobs, name: string, range?: { start: number; end: number }) => {
    const blob = await blobs.get(name, range)
    return blob && Buffer.concat(await blob.toArray())
  }

  t.test('a blob is named by its content and outlives the process', async (t) => {
    const { blobs, reopen } = await open(t)
    const bytes = randomBytes(700_000)
    const halves = of(bytes.subarray(0, 300_000), bytes.subarray(300_000))
    const name = named(bytes)
    t.strictSame(await blobs.put(halves), { name, size: 700_000 })
    const later = await reopen()
    t.equal(await later.size(name), 700_000)
    t.ok((await read(later, name))?.equals(bytes))
    t.strictSame(await blobs.put(of()), { name: named(''), size: 0 })
    t.equal((await read(blobs, named('')))?.length, 0)
  })

  t.test('equal bytes are one blob', async (t) => {
    const { blobs } = await open(t)
    const [first, second] = await Promise.all([blobs.put(of('twice')), blobs.put(of('tw', 'ice'))])
    t.strictSame(first, second)
    t.strictSame(await blobs.put(of('twice')), first)
    await blobs.remove(first.name)
    t.equal(await blobs.size(first.name), undefined)
  })

  t.test('a part of a blob, its end included', async (t) => {
    const { blobs } = await open(t)
    const { name } = await blobs.put(of('0123456789'))
    const text = async (start: number, end: number) =>
      (await read(blobs, name, { start, end }))?.toString()
    t.equal(await text(0, 0), '0')
    t.equal(await text(2, 5), '2345')
    t.equal(await text(7, 99), '789')
  })

  t.test('readers do not mind each other, nor one that leaves early', async (t) => {
    const { blobs } = await open(t)
    const bytes = randomBytes(600_000)
    const { name } = await blobs.put(of(bytes))
    const leaving = await blobs.get(name)
    for await (const part of leaving ?? []) {
      t.ok(part.length > 0)
      break
    }
    const [full, half] = await Promise.all([
      read(blobs, name),
      read(blobs, name, { start: 300_000, end: 599_999 }),
    ])
    t.ok(full?.equals(bytes) && half?.equals(bytes.subarray(300_000)))
    await blobs.remove(name)
    t.equal(await blobs.get(name), undefined)
  })

  t.test('a blob that is too large or cut off is not stored', async (t) => {
    const { blobs } = await open(t)
    await t.rejects(blobs.put(of('12345', '67890'), 9), BlobTooLarge)
    t.equal(await blobs.size(named('1234567890')), undefined)
    t.strictSame((await blobs.put(of('12345', '67890'), 10)).size, 10)
    await t.rejects(blobs.put(broken()), RangeError)
    t.equal(await blobs.size(named('some of it')), undefined)
  })

  t.test('a missing blob is not found', async (t) => {
    const { blobs } = await open(t)
    t.equal(await blobs.get(nowhere), undefined)
    t.equal(await blobs.size(nowhere), undefined)
    await blobs.remove(nowhere)
  })
}
