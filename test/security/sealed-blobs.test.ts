import { createHash, randomBytes } from 'node:crypto'
import t, { type Test } from 'tap'
import { embeddedBlobs } from '../../src/adapters/embedded/blobs.ts'
import { embeddedKeyStore } from '../../src/adapters/embedded/key-store.ts'
import { openLog } from '../../src/adapters/embedded/log.ts'
import { mongoBlobs } from '../../src/adapters/mongodb/blobs.ts'
import type { Blobs } from '../../src/ports/blobs.ts'
import { KeyDestroyed } from '../../src/ports/keys.ts'
import { frameBytes, sealedBlobs } from '../../src/security/sealed-blobs.ts'
import { wrapOf } from '../../src/security/secrets.ts'
import { datastoreKey, SealBroken, vault as vaultOf } from '../../src/security/vault.ts'
import { blobsContract } from '../contracts/blobs.ts'
import { fixedKeys } from '../support/fixed-keys.ts'
import { needsMongo, ownMongo } from '../support/mongo.ts'

const key = datastoreKey('org-1', 'd-1')
const wrap = wrapOf(Buffer.alloc(32, 1))
const sha256 = (bytes: Uint8Array) => createHash('sha256').update(bytes).digest('hex')

async function* once(bytes: Uint8Array) {
  yield bytes
}

const log = await openLog({ path: t.testdir() })
const vault = vaultOf({ keys: fixedKeys(embeddedKeyStore(log), wrap) })
t.teardown(() => log.close())
const { nameOf } = await vault.keyed(key)

t.test('sealed embedded blobs', async (t) => {
  const open = async (t: Test) => {
    const path = t.testdir()
    const sealed = async () => sealedBlobs({ blobs: await embeddedBlobs(path), vault }).under(key)
    return { blobs: await sealed(), reopen: sealed }
  }
  blobsContract(t, open, nameOf)
})

t.test('sealed MongoDB blobs', needsMongo, async (t) => {
  const open = async (t: Test) => {
    const mongo = await ownMongo(t)
    const sealed = async () => sealedBlobs({ blobs: mongoBlobs(mongo), vault }).under(key)
    return { blobs: await sealed(), reopen: sealed }
  }
  blobsContract(t, open, nameOf)
})

const read = async (blobs: Blobs, name: string, range?: { start: number; end: number }) => {
  const stream = await blobs.get(name, range)
  return stream && Buffer.concat(await stream.toArray())
}

const opened = async (t: Test) => {
  const raw = await embeddedBlobs(t.testdir())
  return { raw, sealed: sealedBlobs({ blobs: raw, vault }) }
}

t.test('ranges at the edges of frames', async (t) => {
  const { sealed } = await opened(t)
  const blobs = sealed.under(key)
  for (const size of [1, frameBytes - 1, frameBytes, frameBytes + 1, 3 * frameBytes]) {
    const bytes = randomBytes(size)
    const { name: blobName } = await blobs.put(once(bytes))
    t.equal(await blobs.size(blobName), size)
    const edges = [0, frameBytes, 2 * frameBytes, size]
      .flatMap((edge) => [edge - 1, edge, edge + 1])
      .filter((edge) => edge >= 0 && edge < size)
    for (const start of edges)
      for (const end of edges.filter((end) => end >= start)) {
        const part = await read(blobs, blobName, { start, end })
        if (!part?.equals(bytes.subarray(start, end + 1))) t.fail(`${start}-${end} of ${size}`)
      }
    t.ok((await read(blobs, blobName, { start: 0, end: size + 9 }))?.equals(bytes))
    t.equal((await read(blobs, blobName, { start: size, end: size + 9 }))?.length, 0)
  }
})

t.test('equal bytes under two keys have nothing in common', async (t) => {
  const { raw, sealed } = await opened(t)
  const bytes = Buffer.from('The zebra sleeps under a tree.')
  const [first, second] = [sealed.under(key), sealed.under(datastoreKey('org-2', 'd-1'))]
  const [mine, theirs] = [await first.put(once(bytes)), await second.put(once(bytes))]
  t.equal(mine.name, await first.nameOf(sha256(bytes)))
  t.not(mine.name, theirs.name)
  t.not(mine.name, sha256(bytes))
  t.notOk((await read(raw, mine.name))?.includes('zebra'))
  await t.rejects(second.get(mine.name), SealBroken)
  await first.remove(mine.name)
  t.ok((await read(second, theirs.name))?.equals(bytes))
})

t.test('detects an altered blob', async (t) => {
  const { raw, sealed } = await opened(t)
  const blobs = sealed.under(key)
  const { name: blobName } = await blobs.put(once(randomBytes(3 * frameBytes - 5)))
  const other = await blobs.put(once(randomBytes(3 * frameBytes - 5)))
  const stored = (await read(raw, blobName)) ?? Buffer.alloc(0)
  const foreign = (await read(raw, other.name)) ?? Buffer.alloc(0)
  const frame = frameBytes + 28
  const flipped = (at: number) => {
    const bytes = Buffer.from(stored)
    bytes[at] = (bytes[at] ?? 0) ^ 1
    return bytes
  }
  const [first, second] = [stored.subarray(0, frame), stored.subarray(frame, 2 * frame)]
  const altered = {
    'a byte of the first frame': flipped(20),
    'a byte of the last frame': flipped(2 * frame + 20),
    'a byte of the sealed key': flipped(stored.length - 30),
    'the mark': flipped(stored.length - 76),
    'swapped frames': Buffer.concat([second, first, stored.subarray(2 * frame)]),
    'a frame of another blob': Buffer.concat([foreign.subarray(0, frame), stored.subarray(frame)]),
    'another blob': foreign,
    'the end is missing': stored.subarray(0, -1),
    'only the beginning is left': stored.subarray(0, frame),
    'a frame is missing': Buffer.concat([first, stored.subarray(2 * frame)]),
    'a frame twice': Buffer.concat([first, stored]),
    'plain bytes instead': Buffer.from('I was never sealed'),
  }
  for (const [what, bytes] of Object.entries(altered)) {
    await raw.remove(blobName)
    await raw.put(once(bytes), undefined, () => blobName)
    await t.rejects(read(blobs, blobName), SealBroken, what)
  }
})

t.test('without its key a blob is not there, and none can be stored', async (t) => {
  const { raw, sealed } = await opened(t)
  const name = datastoreKey('org-1', 'gone')
  const blobs = sealed.under(name)
  const { name: blobName } = await blobs.put(once(Buffer.from('soon gone')))
  await vault.destroy(name)
  t.ok(await raw.size(blobName))
  t.equal(await blobs.get(blobName), undefined)
  t.equal(await blobs.size(blobName), undefined)
  await t.rejects(blobs.put(once(Buffer.from('late'))), KeyDestroyed)
  await t.rejects(blobs.nameOf(sha256(Buffer.from('late'))), KeyDestroyed)
})

t.test('a blob from before blobs were sealed is read as it is', async (t) => {
  const { raw, sealed } = await opened(t)
  const blobs = sealed.under(datastoreKey('org-1', 'from before'))
  for (const bytes of [Buffer.from('short'), randomBytes(200_000)]) {
    const { name: blobName } = await raw.put(once(bytes))
    t.equal(await blobs.size(blobName), bytes.length)
    t.ok((await read(blobs, blobName))?.equals(bytes))
    t.ok((await read(blobs, blobName, { start: 1, end: 3 }))?.equals(bytes.subarray(1, 4)))
    await blobs.remove(blobName)
    t.equal(await raw.size(blobName), undefined)
  }
})
