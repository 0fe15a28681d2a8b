import canonicalize from 'canonicalize'
import fc from 'fast-check'
import t from 'tap'
import { canonicalJson } from '../../src/transparency/canonical-json.ts'
import { checkpointText, openedCheckpoint } from '../../src/transparency/checkpoint.ts'
import { leafOf, leafOfLine, lineOf } from '../../src/transparency/leaf.ts'
import { leafHash } from '../../src/transparency/merkle.ts'
import { openedNote, signerOf } from '../../src/transparency/note.ts'
import { parsedTilePath, tilePath } from '../../src/transparency/tile.ts'
import { at } from '../support/positions.ts'
import { metadata } from '../support/recorded.ts'

t.test('canonical JSON is what RFC 8785 says', async (t) => {
  const example = JSON.parse(
    '{"numbers":[333333333.33333329,1E30,4.50,2e-3,0.000000000000000000000000001],' +
      '"string":"\\u20ac$\\u000F\\u000aA\'\\u0042\\u0022\\u005c\\\\\\"\\/","literals":[null,true,false]}',
  )
  t.equal(
    canonicalJson(example),
    '{"literals":[null,true,false],"numbers":[333333333.3333333,1e+30,4.5,0.002,1e-27],' +
      '"string":"€$\\u000f\\nA\'B\\"\\\\\\\\\\"/"}',
  )
  fc.assert(
    fc.property(fc.jsonValue({ depthSize: 'medium' }), (value) =>
      [canonicalize(value), JSON.stringify('\ud800')].includes(canonicalJson(value)),
    ),
  )
  const many = Object.fromEntries(Array.from({ length: 40 }, (_, n) => [`key ${(n * 7) % 40}`, n]))
  t.equal(canonicalJson(many), canonicalize(many), 'however many keys')
  t.equal(canonicalJson(['\ud800', -0, {}]), '["\\ud800",0,{}]', 'half a pair too has a form')
})

const event = {
  id: 'event-1',
  stream: 'box-org-1_b-1',
  type: 'BoxOpened',
  revision: 3,
  position: at(17),
  data: { z: 1, a: { $sealed: 'k', box: 'AA==' } },
  metadata,
}

t.test('the leaf of an event is its line, a long one shortened', async (t) => {
  t.equal(lineOf(event), canonicalize(event))
  t.equal(leafOf(event), lineOf(event))
  const line = (length: number) => lineOf({ ...event, data: 'é'.repeat(length) })
  const room = 65_535 - Buffer.byteLength(line(0))
  const most = { ...event, data: 'é'.repeat(Math.floor(room / 2)) }
  t.equal(leafOf(most), lineOf(most), 'one that just fits is whole')
  const long = { ...event, data: 'é'.repeat(Math.floor(room / 2) + 1) }
  t.match(JSON.parse(leafOf(long)), { ...event, data: { $sha256: /^[0-9a-f]{64}$/ } })
  for (const line of [event, most, long])
    t.equal(leafOfLine(lineOf(line)), leafOf(line), 'the line tells it')
  t.throws(() => leafOfLine('x'.repeat(70_000)), { name: 'SyntaxError' })
})

t.test('notes are signed and opened as C2SP signed-note has it', async (t) => {
  // The example key of Go's golang.org/x/mod/sumdb/note.
  const seed = Buffer.from('AYEKFALVFGyNhPJEMzD1QIDr+Y7hfZx09iUvxdXHKDFz', 'base64').subarray(1)
  const signer = signerOf('PeterNeumann', seed)
  t.equal(signer.vkey, 'PeterNeumann+c74f20a3+ARpc2QcUPDhMQegwxbzhKqiBfsVkmqq/LDE4izWy10TW')
  const text =
    'If you think cryptography is the answer to your problem,\n' +
    "then you don't know what your problem is.\n"
  const note =
    `${text}\n— PeterNeumann x08go/ZJkuBS9UG/SffcvIAQxVBtiFupLLr8pAcElZInNIuGUgYN1FFYC2pZSNXgKvqfq` +
    'dngotpRZb6KE6RyyBwJnAM=\n'
  t.equal(signer.sign(text), note)
  t.equal(openedNote(note, signer.vkey), text)
  t.equal(openedNote(`${note}— other AAAAAAA=\n`, signer.vkey), text, 'others may sign too')

  const other = signerOf('PeterNeumann', Buffer.alloc(32, 1))
  for (const [bad, vkey] of [
    [note.replace('answer', 'anwser'), signer.vkey],
    [note.replace('x08go/ZJ', 'x08go/ZK'), signer.vkey],
    [note, other.vkey],
    [note, 'PeterNeumann+00000000+AA=='],
    [text, signer.vkey],
    ['', signer.vkey],
    [note.trimEnd(), signer.vkey],
  ] as const)
    t.throws(() => openedNote(bad, vkey), { name: 'NoteInvalid' })
})

t.test('a checkpoint says whose history, how long, and its root', async (t) => {
  const signer = signerOf('reprise/org-1', Buffer.alloc(32, 7))
  const checkpoint = { origin: 'reprise/org-1', size: 20_852_163, root: leafHash('x') }
  const text = checkpointText(checkpoint)
  t.match(text, /^reprise\/org-1\n20852163\n[\w+/]{43}=\n$/)
  t.strictSame(openedCheckpoint(signer.sign(text), signer.vkey), checkpoint)
  for (const bad of [
    'reprise/org-1\n01\nAA==\n',
    'reprise/org-1\nx\n',
    `${checkpoint.origin}\n1\nAA==\n`,
  ])
    t.throws(() => openedCheckpoint(signer.sign(bad), signer.vkey), { name: 'NoteInvalid' })
})

t.test('tiles have the paths of C2SP tlog-tiles', async (t) => {
  for (const [path, n, width] of [
    ['000', 0, 256],
    ['999.p/1', 999, 1],
    ['x001/000', 1_000, 256],
    ['x001/x234/067', 1_234_067, 256],
    ['x001/x234/067.p/255', 1_234_067, 255],
  ] as const) {
    t.equal(tilePath({ n, width }), path)
    t.strictSame(parsedTilePath(path), { n, width })
  }
  for (const bad of [
    '',
    '0',
    'x000/001',
    '001.p/0',
    '001.p/256',
    '001.p/01',
    '001/',
    '1234',
    '/001',
  ])
    t.equal(parsedTilePath(bad), undefined, bad)
  fc.assert(
    fc.property(fc.maxSafeNat(), fc.integer({ min: 1, max: 256 }), (n, width) => {
      const parsed = parsedTilePath(tilePath({ n, width }))
      return parsed?.n === n && parsed.width === width
    }),
  )
})
