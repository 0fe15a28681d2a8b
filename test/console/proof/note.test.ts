import t from 'tap'
import { utf8 } from '../../../console/src/proof/bytes.ts'
import { openNote, parseVerifierKey } from '../../../console/src/proof/note.ts'
import { signerOf } from '../../../src/transparency/note.ts'

const { subtle } = globalThis.crypto

/** The example of the specification (c2sp.org/signed-note). */
const exampleKey = 'example.com/foo+530d903a+AekyeRrm56hApGFkyQR4ZCbV54Id2LKaANYcrnKv3U2k'
const exampleText = 'This is an example message.\n'
const exampleLine =
  '— example.com/foo Uw2QOkn8srV1yJGh2VYRlL1Tnagv1YEq6TfXppzi2ONncAlTgK7Ztg1ERYNZXsYjOBH3mFXmRKuwHjG1Yu72IneyaQM=\n'
const example = `${exampleText}\n${exampleLine}`

/** The example of Go’s golang.org/x/mod/sumdb/note. */
const goKey = 'PeterNeumann+c74f20a3+ARpc2QcUPDhMQegwxbzhKqiBfsVkmqq/LDE4izWy10TW'
const goText =
  'If you think cryptography is the answer to your problem,\n' +
  "then you don't know what your problem is.\n"
const goNote =
  `${goText}\n— PeterNeumann x08go/ZJkuBS9UG/SffcvIAQxVBtiFupLLr8pAcElZInNIuGUgYN1FFYC2pZSNXgKvqfq` +
  'dngotpRZb6KE6RyyBwJnAM=\n'

const opened = async (note: string | Uint8Array, key = exampleKey) => {
  const bytes = typeof note === 'string' ? utf8(note) : new Uint8Array(note)
  return openNote(subtle, bytes, await parseVerifierKey(subtle, key))
}

t.test('the examples of C2SP and Go are opened', async (t) => {
  t.equal(await opened(example), exampleText)
  t.equal(await opened(goNote, goKey), goText)
})

t.test('signatures of unknown keys are ignored', async (t) => {
  const stranger = '— example.com/foo AAAAAAA=\n'
  t.equal(await opened(`${example}${stranger}`), exampleText, 'the same name, another id')
  t.equal(await opened(`${exampleText}\n${stranger}${exampleLine}`), exampleText)
  const namesake = exampleLine.replace('foo', 'bar')
  t.equal(await opened(`${exampleText}\n${namesake}${exampleLine}`), exampleText, 'the same id')
})

t.test('a text may have empty lines', async (t) => {
  const signer = signerOf('log', Buffer.alloc(32, 1))
  t.equal(await opened(signer.sign('a\n\nb\n'), signer.vkey), 'a\n\nb\n')
})

const failures = {
  'a changed text': [example.replace('example message', 'other message'), 'signature_wrong'],
  'a changed signature': [example.replace('Uw2QOkn8', 'Uw2QOkn9'), 'signature_wrong'],
  'a short signature': [`${exampleText}\n— example.com/foo Uw2QOkn8srU=\n`, 'signature_wrong'],
  'a second, wrong signature of the key': [
    `${example}${exampleLine.replace('QOkn8', 'QOkn9')}`,
    'signature_wrong',
  ],
  'another key id': [example.replace('Uw2Q', 'Uw2R'), 'signature_missing'],
  'another key name': [
    example.replace('— example.com/foo', '— example.com/fou'),
    'signature_missing',
  ],
  'no signature': [exampleText, 'malformed'],
  'no line behind the empty line': [`${exampleText}\n`, 'malformed'],
  nothing: ['', 'malformed'],
  'a truncated note': [example.slice(0, -1), 'malformed'],
  'half of a note': [example.slice(0, example.length / 2), 'malformed'],
  'a hyphen instead of the dash': [example.replace('—', '-'), 'malformed'],
  'a name with a plus': [example.replace('example.com/foo', 'example+foo'), 'malformed'],
  'two spaces': [example.replace('foo Uw', 'foo  Uw'), 'malformed'],
  'a carriage return': [example.replace(/\n$/, '\r\n'), 'malformed'],
  'a zero byte': [example.replace('message', 'mess\0ge'), 'malformed'],
  'base64 without padding': [example.replace('QM=\n', 'QM\n'), 'malformed'],
  'base64 for URLs': [example.replace('n8srV1', 'n8-rV1'), 'malformed'],
  'base64 with set bits behind the last byte': [example.replace('QM=\n', 'QN=\n'), 'malformed'],
  'a malformed line of another key': [`${example}— other A\n`, 'malformed'],
  'more signatures than the limit': [`${example}${'— other AAAAAAA=\n'.repeat(64)}`, 'malformed'],
} as const

for (const [name, [note, reason]] of Object.entries(failures))
  t.test(`a note with ${name} is refused`, async (t) => {
    await t.rejects(opened(note), { name: 'VerificationFailed', failure: { reason } })
  })

t.test('a note that is not UTF-8 is refused', async (t) => {
  const note = Buffer.from(example)
  note[3] = 0xff
  await t.rejects(opened(note), { name: 'VerificationFailed', failure: { reason: 'malformed' } })
})

t.test('a verifier key is read, and refused when it is malformed', async (t) => {
  const key = await parseVerifierKey(subtle, exampleKey)
  t.match(key, { name: 'example.com/foo', text: exampleKey })
  for (const text of [
    '',
    'example.com/foo',
    exampleKey.slice(0, -1),
    exampleKey.replace('530d903a', '530d903b'),
    exampleKey.replace('530d903a', '530D903A'),
    exampleKey.replace('+Aeky', '+Beky'),
    exampleKey.replace('foo', 'bar'),
    exampleKey.replace('foo', 'f oo'),
    `${exampleKey}\n`,
    `${exampleKey}AAAA`,
    'x'.repeat(4_096),
  ])
    await t.rejects(
      parseVerifierKey(subtle, text),
      { name: 'VerificationFailed', failure: { reason: 'malformed', part: 'key' } },
      JSON.stringify(text.slice(0, 80)),
    )
})
