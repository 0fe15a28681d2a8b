import t from 'tap'
import { redaction } from '../../src/tools/redaction.ts'

const token = 'tok_5ecr3t/value'

t.test('replaces a secret in each of its forms by its name', async (t) => {
  const redacted = redaction([{ name: 'TOKEN', value: `${token}"x` }])
  const forms = [`${token}"x`, encodeURIComponent(`${token}"x`), JSON.stringify(`${token}"x`)]
  for (const form of forms)
    t.match(
      redacted(`sent ${form}, again ${form}.`),
      /^sent ("?)\[TOKEN\]\1, again \1\[TOKEN\]\1\.$/,
    )
})

t.test('does not search the names that replace secrets', async (t) => {
  const secrets = ['AAAAAAAA', 'BBBBBBBB'].map((name, n) => ({
    name,
    value: ['BBBBBBBB', 'AAAAAAAA'][n] ?? '',
  }))
  t.equal(redaction(secrets)('AAAAAAAA BBBBBBBB'), '[BBBBBBBB] [AAAAAAAA]')
})

t.test('replaces overlapping secrets as one, so that no part of either stays', async (t) => {
  const redacted = redaction([
    { name: 'ONE', value: 'abcdefgh' },
    { name: 'TWO', value: 'efghijklmn' },
    { name: 'RUN', value: 'zzzzzzzz' },
  ])
  t.equal(redacted('-abcdefghijklmn-'), '-[ONE]-')
  t.equal(redacted(`-${'z'.repeat(21)}-`), '-[RUN]-')
})

t.test('cuts a text, and shows no part of a secret that the cut divides', async (t) => {
  const redacted = redaction([{ name: 'TOKEN', value: token }])
  const text = `${'x'.repeat(20)}${token}${'y'.repeat(50)}`
  t.equal(redacted(text, 25), `${'x'.repeat(20)}[TOKE\n[cut: the first 25 of 86 characters]`)
  t.equal(redacted(text, 20), `${'x'.repeat(20)}\n[cut: the first 20 of 86 characters]`)
  t.equal(redacted(text, 100), `${'x'.repeat(20)}[TOKEN]${'y'.repeat(50)}`)
  t.equal(redaction([])(text, 3), 'xxx\n[cut: the first 3 of 86 characters]')
})

t.test('names longer than their secrets do not lengthen a text beyond its bound', async (t) => {
  const redacted = redaction([{ name: 'N'.repeat(64), value: 'abcdefgh' }])
  t.match(redacted('abcdefgh'.repeat(2_000), 16_000), /^.{16000}\n\[cut: [^\]]*\]$/)
  t.equal(
    redacted(' abcdefgh'.repeat(2_000), 16_000).length,
    16_000 + '\n[cut: the first 16000 of 18000 characters]'.length,
  )
})

t.test('withholds a text that contains a secret of fewer than 8 characters', async (t) => {
  const redacted = redaction([
    { name: 'PIN', value: '12"4567' },
    { name: 'TOKEN', value: token },
  ])
  const withheld = '[withheld: the text contains the credential PIN]'
  t.equal(redacted('it is 12"4567'), withheld)
  t.equal(redacted(JSON.stringify({ pin: '12"4567' })), withheld)
  t.equal(redacted(`it is ${token}`), 'it is [TOKEN]')
  t.equal(
    redacted('it is 12"4567', 6),
    'it is \n[cut: the first 6 of 13 characters]',
    'only of the part that is shown',
  )
})

t.test('finds what a search for each form at each place finds', async (t) => {
  const letters = (seed: number, length: number) =>
    Array.from({ length }, (_, n) => 'ab'[(Math.imul(seed + n, 2_654_435_761) >>> 13) % 2]).join('')
  for (let seed = 1; seed < 300; seed++) {
    const value = letters(seed, 8 + (seed % 3))
    const text = letters(seed * 7, 200)
    const hidden = new Set<number>()
    for (let n = text.indexOf(value); n !== -1; n = text.indexOf(value, n + 1))
      for (let k = 0; k < value.length; k++) hidden.add(n + k)
    const expected = [...text].map((one, n) => (hidden.has(n) ? '*' : one)).join('')
    const clean = redaction([{ name: 'S', value }])(text)
    t.equal(clean.replace(/(?:\[S\])+/g, '*'), expected.replace(/\*+/g, '*'))
  }
})
