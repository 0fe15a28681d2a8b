import { createHash } from 'node:crypto'
import t from 'tap'
import { embeddedBlobs } from '../../../src/adapters/embedded/blobs.ts'
import { embeddedKeyStore } from '../../../src/adapters/embedded/key-store.ts'
import { openLog } from '../../../src/adapters/embedded/log.ts'
import { sealedBlobs } from '../../../src/security/sealed-blobs.ts'
import { wrapOf } from '../../../src/security/secrets.ts'
import { sessionKey, vault as vaultOf } from '../../../src/security/vault.ts'
import { arrivedAgain, copiedParts } from '../../../src/turns/fork/copied-parts.ts'
import { storedParts } from '../../../src/turns/run/message-parts.ts'
import { fixedKeys } from '../../support/fixed-keys.ts'
import { png } from '../../support/media.ts'

async function* once(bytes: Uint8Array) {
  yield bytes
}

t.test('a copy of a session has files of its own', async (t) => {
  const log = await openLog({ path: t.testdir() })
  t.teardown(() => log.close())
  const vault = vaultOf({ keys: fixedKeys(embeddedKeyStore(log), wrapOf(Buffer.alloc(32, 1))) })
  const blobs = sealedBlobs({ blobs: await embeddedBlobs(t.testdir()), vault })
  const names = ['one', 'two'].map((session) => sessionKey('org-1', session))
  const [sourceKey = '', targetKey = ''] = names
  const placeOf = async (name: string) => ({
    key: await vault.keyed(name),
    files: blobs.under(name),
  })
  const bytes = png(8, 6, 200_000)
  const hash = createHash('sha256').update(bytes).digest('hex')
  const facts = { kind: 'image' as const, mediaType: 'image/png', bytes: bytes.length, at: 3 }
  const read = () => once(bytes)
  const from = await placeOf(sourceKey)
  const to = await placeOf(targetKey)
  const original = storedParts(
    'message-1',
    [
      { ...facts, name: 'cat.png', detail: 'low', width: 8, height: 6, hash, read },
      { ...facts, hash: 'f'.repeat(64), read },
    ],
    from.key,
  )
  t.match(original, [{ id: 'message-1_0' }, { id: 'message-1_1' }])
  await from.files.put(read())

  const copy = await copiedParts(original, 'message-2', from, to)
  t.match(copy, [
    { ...facts, id: 'message-2_0', detail: 'low', width: 8, height: 6 },
    { ...facts, id: 'message-2_1' },
  ])
  const [first, second] = copy
  t.ok(first?.name && to.key.open(first.name) === 'cat.png')
  const again = await copiedParts(original, 'message-2', from, to)
  t.strictSame(
    again.map(({ blob }) => blob),
    copy.map(({ blob }) => blob),
    'a copy that is made again has the same names',
  )
  t.match(await arrivedAgain(original, from), [{ ...facts, name: 'cat.png', hash }], 'as they came')
  t.equal(await to.files.size(second?.blob ?? ''), undefined, 'what is gone stays gone')

  await vault.destroy(sourceKey)
  const left = await to.files.get(first?.blob ?? '')
  t.ok(Buffer.concat((await left?.toArray()) ?? []).equals(bytes), 'one is erased, the other whole')
})
