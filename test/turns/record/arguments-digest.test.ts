import { createHash } from 'node:crypto'
import t from 'tap'
import { digestOf } from '../../../src/turns/record/arguments-digest.ts'

const sha256 = (text: string) => createHash('sha256').update(text).digest('hex')

t.test('the digest of arguments does not depend on how a model writes them', async (t) => {
  t.equal(digestOf('{ "b": 1, "a": [2] }'), sha256('{"a":[2],"b":1}'))
  t.equal(digestOf(''), sha256('{}'))
})

t.test('digests invalid, too deep or too wide JSON as plain text', async (t) => {
  const deep = `${'{"a":'.repeat(20_000)}1${'}'.repeat(20_000)}`
  const wide = `[ ${'0,'.repeat(20_000)}0]`
  for (const text of ['{', deep, wide]) t.equal(digestOf(text), sha256(text))
})
