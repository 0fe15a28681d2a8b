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
    const expected = [...text].map((character, n) => (hidden.has(n) ? '*' : character)).join('')
    const clean = redaction([{ name: 'S', value }])(text)
    t.equal(clean.replace(/(?:\[S\])+/g, '*'), expected.replace(/\*+/g, '*'))
  }
})

/** Each character as an escape. */
const each = (text: string, encode: (code: number) => string) =>
  [...text].map((character) => encode(character.charCodeAt(0))).join('')
const hex = (code: number, digits: number) => code.toString(16).padStart(digits, '0')
const base64 = (before: string, value: string) =>
  Buffer.from(`${before}${value}`).toString('base64')
const encodings: Readonly<Record<string, (value: string) => string>> = {
  'signs of HTML by name': (value) =>
    value
      .replaceAll('&', '&amp;')
      .replaceAll('<', '&lt;')
      .replaceAll('"', '&quot;')
      .replaceAll('/', '&sol;'),
  'HTML by number': (value) => each(value, (code) => `&#${code};`),
  'HTML by number with zeros': (value) => each(value, (code) => `&#00${code};`),
  'HTML in hex, without its end': (value) => each(value, (code) => `&#X${hex(code, 2)}`),
  '\\u escapes': (value) => each(value, (code) => `\\u${hex(code, 4)}`),
  '\\u{} escapes': (value) => each(value, (code) => `\\u{${hex(code, 2)}}`),
  '\\x escapes': (value) => each(value, (code) => `\\x${hex(code, 2)}`),
  'slashes escaped': (value) => value.replaceAll('/', '\\/'),
  'a form': (value) => new URLSearchParams([['', value]]).toString().slice(1),
  'percent encoding of each character': (value) => each(value, (code) => `%${hex(code, 2)}`),
  'percent encoding in capitals': (value) =>
    each(value, (code) => `%${hex(code, 2).toUpperCase()}`),
  'percent encoding twice': (value) => encodeURIComponent(encodeURIComponent(value)),
  'JSON in JSON': (value) => JSON.stringify(JSON.stringify(`"${value}"`)),
  'JSON in HTML': (value) =>
    JSON.stringify(value).replaceAll('&', '&amp;').replaceAll('"', '&quot;'),
  'base64, from the first byte': (value) => base64('', value),
  'base64, from the second byte': (value) => base64('a', value),
  'base64, from the third byte': (value) => base64('a:', value),
  'base64 of addresses': (value) => Buffer.from(`??>${value}`).toString('base64url'),
  'base64 in an address': (value) => encodeURIComponent(base64('u', value)),
  'base64 in JSON': (value) => base64('u', value).replaceAll('/', '\\/'),
  'base64 in lines': (value) => base64('u', value).replace(/.{8}/g, '$&\r\n'),
  'base64 in escaped lines': (value) => JSON.stringify(base64('', value).replace(/.{8}/g, '$&\n')),
  hex: (value) => Buffer.from(value).toString('hex'),
  'hex in capitals': (value) => Buffer.from(value).toString('hex').toUpperCase(),
  capitals: (value) => value.toUpperCase(),
  'two bytes for each character': (value) =>
    each(value, (code) => `${String.fromCharCode(code)}\0`),
}

t.test('replaces a secret in whatever way it is encoded', async (t) => {
  const values = [
    'tok_5e/cr"et+va lue&<x>',
    'sk-0123456789abcdef',
    'a%41b\\u0041%2Fc&amp;d',
    '~'.repeat(9),
  ]
  for (const value of values)
    for (const [name, encode] of Object.entries(encodings)) {
      const text = encode(value)
      const clean = redaction([{ name: 'TOKEN', value }])(`before ${text} after`)
      t.match(clean, /^before.{0,9}\[TOKEN\].{0,9}after$/s, `${value} as ${name}: ${text}`)
    }
})

t.test('withholds a text with an encoded short secret', async (t) => {
  const redacted = redaction([{ name: 'PIN', value: '12/34' }])
  for (const text of [
    '12\\/34',
    '12%2f34',
    '12&#47;34',
    base64('', '12/34'),
    base64('u:', '12/34'),
  ])
    t.match(redacted(`it is ${text}.`), /^\[withheld: /, text)
})

t.test('shows nothing of an encoded secret that the cut divides', async (t) => {
  const value = 'abcdefghijklmnopqrstuvwxyz'
  const redacted = redaction([{ name: 'TOKEN', value }])
  const text = `${'.'.repeat(20)}${each(value, (code) => `&#x0000${hex(code, 2)};`)}`
  t.equal(redacted(text, 40).slice(0, 27), `${'.'.repeat(20)}[TOKEN]`)
})

t.test('keeps a text that has no secret as it is', async (t) => {
  const text = '{"a\\u0020b":"%41%zz &amp; &nothing; \\n+-_","c":"ZGVmZ2hpamtsbQ=="}'
  t.equal(redaction([{ name: 'TOKEN', value: token }])(text), text)
})

t.test('shows nothing of a secret whose escapes end wherever the text is cut', async (t) => {
  const value = 'Tr0ub4dor&3-horse-battery'
  const percent = [...value].map((character) => `%${character.charCodeAt(0).toString(16)}`).join('')
  const unicode = [...value]
    .map((character) => `\\u00${character.charCodeAt(0).toString(16)}`)
    .join('')
  const redacted = redaction([{ name: 'TOKEN', value }])
  for (const encoded of [percent, unicode])
    for (let length = 1; length < encoded.length; length++) {
      const text = `${'.'.repeat(1_000 - length)}${encoded}${'.'.repeat(1_000)}`
      t.match(redacted(text, 1_000), /^\.+\[/, `${length} of ${encoded.length} characters`)
    }
})

t.test('a cut beside a secret is between grapheme clusters', async (t) => {
  const redacted = redaction([{ name: 'T', value: token }])
  t.equal(redacted('ab👍🏽cd', 5), 'ab\n[cut: the first 5 of 8 characters]')
  t.equal(redacted(`${token}👍🏽cd`, 18), '[T]\n[cut: the first 18 of 22 characters]')
})
