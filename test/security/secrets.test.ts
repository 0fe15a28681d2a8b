import { createHmac, hkdfSync } from 'node:crypto'
import t from 'tap'
import { newApiKey, sameSecret, secretFrom, secretsOf, wrapOf } from '../../src/security/secrets.ts'

t.test('new keys', async (t) => {
  const keys = Array.from({ length: 2_000 }, () => newApiKey('live'))
  t.ok(keys.every((key) => /^svc_live_[A-Za-z0-9]{32}$/.test(key)))
  t.equal(new Set(keys).size, keys.length)
  t.match(newApiKey('user'), /^svc_user_[A-Za-z0-9]{32}$/)
  const counts = new Map<string, number>()
  for (const letter of keys.join('').replaceAll('svc_live_', ''))
    counts.set(letter, (counts.get(letter) ?? 0) + 1)
  t.equal(counts.size, 62)
  const expected = (2_000 * 32) / 62
  const chi = [...counts.values()].reduce((sum, n) => sum + (n - expected) ** 2 / expected, 0)
  t.ok(chi < 140, `every letter is as likely as any other (chi² ${chi.toFixed(0)} of 61)`)
})

const master = Buffer.alloc(32, 1)

t.test('each purpose has its own hash, each master key its own', async (t) => {
  const first = secretsOf(secretFrom(master))
  const second = secretsOf(secretFrom(Buffer.alloc(32, 2)))
  const hashes = [first, second].flatMap(({ hashApiKey, hashEmail, hashSubject }) => [
    hashApiKey('a'),
    hashEmail('a'),
    hashSubject('a'),
  ])
  t.equal(new Set(hashes).size, 6)
  t.ok(hashes.every((hash) => /^[0-9a-f]{64}$/.test(hash)))
  t.equal(first.hashApiKey('a'), secretsOf(secretFrom(master)).hashApiKey('a'))
  t.not(wrapOf(master).export().toString('hex'), first.links.export().toString('hex'))
})

t.test('secrets derived from the master key itself stay the same', async (t) => {
  const { hashApiKey, logKeySeed, links } = secretsOf(secretFrom(master))
  const bytesOf = (purpose: string) =>
    Buffer.from(hkdfSync('sha256', master, '', `reprise/${purpose}`, 32))
  t.equal(hashApiKey('a'), createHmac('sha256', bytesOf('api-key')).update('a').digest('hex'))
  t.same(logKeySeed('org-1'), bytesOf('log-key/org-1'))
  t.same(links.export(), bytesOf('links'))
})

t.test('comparing', async (t) => {
  t.ok(sameSecret('abc', 'abc'))
  t.notOk(sameSecret('abc', 'abd'))
  t.notOk(sameSecret('abc', 'abcd'))
  t.notOk(sameSecret('ä', 'a'))
})
