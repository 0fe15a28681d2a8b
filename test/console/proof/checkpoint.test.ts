import t from 'tap'
import { fromBase64, toBase64, utf8 } from '../../../console/src/proof/bytes.ts'
import { openCheckpoint, parseCheckpoint } from '../../../console/src/proof/checkpoint.ts'
import { parseVerifierKey } from '../../../console/src/proof/note.ts'
import { signerOf } from '../../../src/transparency/note.ts'

const { subtle } = globalThis.crypto

/** The example of the specification (c2sp.org/tlog-checkpoint). */
const root = 'CsUYapGGPo4dkMgIAUqom/Xajj7h2fB2MPA3j2jxq2I='
const example = `example.com/behind-the-sofa\n20852163\n${root}\n`
const emptyRoot = '47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU='

t.test('the example of C2SP is read', async (t) => {
  const checkpoint = parseCheckpoint(example)
  t.match(checkpoint, { origin: 'example.com/behind-the-sofa', size: 20_852_163 })
  t.equal(toBase64(checkpoint.root), root)
})

t.test('extension lines are ignored', async (t) => {
  t.strictSame(parseCheckpoint(`${example}extension\nanother\n`), parseCheckpoint(example))
})

t.test('texts that are no checkpoints are refused', async (t) => {
  for (const text of [
    '',
    '\n\n\n',
    example.slice(0, -1),
    'example.com/log\n5\n',
    `\n5\n${root}\n`,
    `${example}\n`,
    `${example}\nextension\n`,
    ...[
      '',
      '05',
      '-1',
      '+5',
      '5.0',
      '5e3',
      '0x5',
      ' 5',
      '5 ',
      '٥',
      '9007199254740992',
      '9'.repeat(5_000),
    ].map((size) => `log\n${size}\n${root}\n`),
    ...['', 'x', 'AA==', root.slice(0, -1), `${root}AAAA`, root.replace('q2I=', 'q2J=')].map(
      (hash) => `log\n5\n${hash}\n`,
    ),
  ])
    t.throws(
      () => parseCheckpoint(text),
      { name: 'VerificationFailed', failure: { reason: 'malformed', part: 'checkpoint' } },
      JSON.stringify(text.slice(0, 60)),
    )
})

t.test('a signed checkpoint of another log is refused', async (t) => {
  const signer = signerOf('reprise/org-1', Buffer.alloc(32, 7))
  const key = await parseVerifierKey(subtle, signer.vkey)
  const open = (text: string) =>
    openCheckpoint(subtle, utf8(signer.sign(text)), { key, origin: 'reprise/org-1' })
  t.match(await open(`reprise/org-1\n5\n${root}\n`), { size: 5, root: fromBase64(root) })
  await t.rejects(open(`reprise/org-2\n5\n${root}\n`), {
    name: 'VerificationFailed',
    failure: { reason: 'wrong_origin', expected: 'reprise/org-1', actual: 'reprise/org-2' },
  })
})

t.test('an empty history has the root of the empty tree', async (t) => {
  const signer = signerOf('log', Buffer.alloc(32, 7))
  const key = await parseVerifierKey(subtle, signer.vkey)
  const open = (hash: string) =>
    openCheckpoint(subtle, utf8(signer.sign(`log\n0\n${hash}\n`)), { key, origin: 'log' })
  t.match(await open(emptyRoot), { size: 0 })
  await t.rejects(open(root), { name: 'VerificationFailed', failure: { reason: 'malformed' } })
})
