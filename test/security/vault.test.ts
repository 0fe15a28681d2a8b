import { createSecretKey, randomBytes } from 'node:crypto'
import t from 'tap'
import { type Sealed, sealed } from '../../src/domain/sealed.ts'
import { KeyDestroyed, type KeyRecords, type KeyStore } from '../../src/ports/keys.ts'
import { wrapOf } from '../../src/security/secrets.ts'
import { sessionKey, userKey, vault } from '../../src/security/vault.ts'
import { fixedKeys } from '../support/fixed-keys.ts'

const name = sessionKey('org-1', 'session-1')
const wrap = wrapOf(Buffer.alloc(32, 1))

/** What a key store owes its callers, in memory; `got` counts what was asked of it. */
const storeInMemory = () => {
  const stored = new Map<string, Uint8Array | null>()
  const got: string[] = []
  const keys: KeyStore & Pick<KeyRecords, 'rewrap'> = {
    async get(name) {
      got.push(name)
      return stored.get(name) ?? undefined
    },
    some: async () => [...stored].find(([, key]) => key)?.[0],
    async create(name, wrapped) {
      const known = stored.get(name)
      if (known === null) throw new KeyDestroyed(name)
      if (!known) stored.set(name, wrapped)
      return known ?? wrapped
    },
    async destroy(name) {
      stored.set(name, null)
    },
    rewrap: async () => undefined,
  }
  return { keys, stored, got }
}

const altered = ({ $sealed, box }: Sealed, at: number): Sealed => {
  const bytes = Buffer.from(box, 'base64')
  bytes[at] = (bytes[at] ?? 0) ^ 1
  return { $sealed, box: bytes.toString('base64') }
}

t.test('what is sealed can be opened, here and after a restart', async (t) => {
  const { keys } = storeInMemory()
  const first = vault({ keys: fixedKeys(keys, wrap) })
  for (const text of ['', 'hello', 'grüß dich 👋', 'x'.repeat(100_000)]) {
    const box = await first.seal(name, text)
    t.strictSame(sealed.parse(box), box)
    t.notMatch(box.box, Buffer.from(text || '-').toString('base64'))
    t.equal(await first.open(box), text)
    t.equal(await vault({ keys: fixedKeys(keys, wrap) }).open(box), text)
  }
})

t.test('a long text takes less room, and comes back as it was', async (t) => {
  const { keys } = storeInMemory()
  const { seal, open } = vault({ keys: fixedKeys(keys, wrap), maxText: 1 })
  const prose = 'Grüße, 世界 👋 and so on; '
  for (const length of [65_535, 65_536, 65_537, 9_000_000]) {
    const text = `${'x'.repeat(length % 2)}${prose.repeat(length / 26)}`
    const box = await seal(name, text)
    t.ok((await open(box)) === text, `${length}`)
    if (length > 100_000) t.ok(box.box.length < 1_000_000)
  }
})

t.test('a text is sealed again under another key without unpacking it', async (t) => {
  const { keyed } = vault({ keys: fixedKeys(storeInMemory().keys, wrap) })
  const [first, other] = [await keyed(name), await keyed('session:org-1/other')]
  for (const text of ['', 'hello', 'x'.repeat(100_000)]) {
    const sealedText = first.seal(text)
    const again = other.sealPacked(first.openPacked(sealedText))
    t.equal(again.$sealed, 'session:org-1/other')
    t.equal(other.open(again), text)
    t.throws(() => other.openPacked(sealedText), { name: 'SealBroken' })
    t.throws(() => first.openPacked(altered(sealedText, 20)), { name: 'SealBroken' })
  }
})

t.test('a name that was just made gets the key that is stored', async (t) => {
  const { keys, stored } = storeInMemory()
  const create: KeyStore['create'] = async (name, wrapped) => {
    const known = stored.get(name)
    if (known === null) throw new KeyDestroyed(name)
    if (!known) stored.set(name, wrapped)
    return known ?? wrapped
  }
  const open = () => vault({ keys: fixedKeys({ ...keys, create }, wrap) })
  const { keyed, destroy } = open()
  const fresh = keyed(name, true)
  t.equal(await keyed(name), await fresh)
  const sealedText = (await fresh).seal('hello')
  const other = await open().keyed(name, true)
  t.equal(other.open(sealedText), 'hello', 'one that is stored all the same is found')
  await destroy(name)
  await t.rejects(async () => keyed(name, true), KeyDestroyed)
  await t.rejects(async () => keyed(name), KeyDestroyed)
})

t.test('the same text is never sealed the same way', async (t) => {
  const { seal } = vault({ keys: fixedKeys(storeInMemory().keys, wrap) })
  const boxes = await Promise.all(Array.from({ length: 2_000 }, () => seal(name, 'same')))
  t.equal(new Set(boxes.map(({ box }) => box.slice(0, 16))).size, 2_000)
})

t.test('a key in memory is not looked for again', async (t) => {
  const { keys, got } = storeInMemory()
  const { keyed, open } = vault({ keys: fixedKeys(keys, wrap) })
  await keyed(name)
  const reads = got.length
  const key = await keyed(name)
  const box = key.seal('hello')
  t.equal(key.open(box), 'hello')
  t.equal(await open(box), 'hello')
  t.equal(got.length, reads)
})

t.test('one key for a name, whoever is first', async (t) => {
  const { keys, stored } = storeInMemory()
  const [here, there] = [
    vault({ keys: fixedKeys(keys, wrap) }),
    vault({ keys: fixedKeys(keys, wrap) }),
  ]
  const boxes = await Promise.all([
    ...Array.from({ length: 8 }, (_, n) => here.seal(name, `here ${n}`)),
    ...Array.from({ length: 8 }, (_, n) => there.seal(name, `there ${n}`)),
  ])
  t.equal(stored.size, 1)
  const texts = await Promise.all(
    boxes.map((box) => vault({ keys: fixedKeys(keys, wrap) }).open(box)),
  )
  t.equal(texts.filter((text) => /^(here|there) \d$/.test(text ?? '')).length, 16)
})

t.test('an altered text is refused', async (t) => {
  const { seal, open } = vault({ keys: fixedKeys(storeInMemory().keys, wrap) })
  const box = await seal(name, 'hello')
  const length = Buffer.from(box.box, 'base64').length
  for (const at of [0, 12, length - 1])
    await t.rejects(open(altered(box, at)), { name: 'SealBroken' })
  await t.rejects(open({ ...box, box: '' }), { name: 'SealBroken' })
  await seal(userKey('user-1'), 'hi')
  await t.rejects(open({ ...box, $sealed: userKey('user-1') }), { name: 'SealBroken' })
  t.equal(await open(box), 'hello')
})

t.test('a text cannot be passed off as another name’s, not even one that was opened', async (t) => {
  const { seal, open } = vault({ keys: fixedKeys(storeInMemory().keys, wrap) })
  const box = await seal(name, 'hello')
  t.equal(await open(box), 'hello')
  await seal(userKey('user-1'), 'hi')
  await t.rejects(open({ $sealed: userKey('user-1'), box: box.box }), { name: 'SealBroken' })
})

t.test('a destroyed key opens nothing more', async (t) => {
  const { keys } = storeInMemory()
  const { seal, open, destroy } = vault({ keys: fixedKeys(keys, wrap) })
  const box = await seal(name, 'hello')
  const other = await seal(userKey('user-1'), 'hi')
  t.equal(await open(box), 'hello')
  await destroy(name)
  t.equal(await open(box), undefined)
  await t.rejects(seal(name, 'again'), KeyDestroyed)
  t.equal(await open(other), 'hi')
  t.equal(await vault({ keys: fixedKeys(keys, wrap) }).open(box), undefined)
})

t.test('a key that was fetched while it was destroyed is not kept', async (t) => {
  const { keys } = storeInMemory()
  const box = await vault({ keys: fixedKeys(keys, wrap) }).seal(name, 'hello')
  const { open, destroy } = vault({ keys: fixedKeys(keys, wrap) })
  const opening = open(box)
  await destroy(name)
  t.equal(await opening, 'hello', 'it was asked for before')
  t.equal(await open(box), undefined)
})

t.test('keys are stored wrapped', async (t) => {
  const { keys, stored } = storeInMemory()
  await vault({ keys: fixedKeys(keys, wrap) }).seal(name, 'hello')
  t.equal(stored.get(name)?.length, 12 + 32 + 16)
  const elsewhere = stored.get(name)
  if (elsewhere) stored.set(userKey('user-1'), elsewhere)
  await t.rejects(vault({ keys: fixedKeys(keys, wrap) }).seal(userKey('user-1'), 'hi'), {
    name: 'WrongMasterKey',
  })
})

t.test('another master key is named as the cause', async (t) => {
  const { keys } = storeInMemory()
  const box = await vault({ keys: fixedKeys(keys, wrap) }).seal(name, 'hello')
  const other = vault({ keys: fixedKeys(keys, createSecretKey(randomBytes(32))) })
  const refusal = { name: 'WrongMasterKey', message: /MASTER_KEY/ }
  await t.rejects(async () => other.open(box), refusal)
  await t.rejects(other.seal(name, 'hi'), refusal)
})
