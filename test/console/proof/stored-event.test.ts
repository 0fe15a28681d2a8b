import canonicalize from 'canonicalize'
import fc from 'fast-check'
import t from 'tap'
import { textOf, utf8 } from '../../../console/src/proof/bytes.ts'
import {
  canonicalJson,
  compareEvent,
  leafOf,
  parseLine,
} from '../../../console/src/proof/stored-event.ts'
import { lineOf, leafOf as serverLeafOf } from '../../../src/transparency/leaf.ts'
import { at } from '../../support/positions.ts'
import { metadata } from '../../support/recorded.ts'

const { subtle } = globalThis.crypto

const event = {
  id: 'event-1',
  stream: 'box-org-1_b-1',
  type: 'BoxOpened',
  revision: 3,
  position: at(17),
  data: { name: 'x', text: { $sealed: 'session:s-1', box: 'AA==' }, list: [1, { deep: true }] },
  metadata,
}
const listed = { ...event, data: { ...event.data, text: 'decrypted' } }
const stored = parseLine(utf8(lineOf(event)))

t.test('canonical JSON is that of RFC 8785', async (t) => {
  fc.assert(
    fc.property(
      fc.jsonValue({ depthSize: 'medium' }),
      (value) => canonicalJson(value) === canonicalize(value),
    ),
  )
  t.equal(canonicalJson(['\ud800', -0, {}]), '["\\ud800",0,{}]', 'half a surrogate pair has a form')
})

t.test('the leaf of a line is the one that the server hashes', async (t) => {
  for (const length of [0, 1_000, 30_000, 70_000]) {
    const long = { ...event, data: 'é'.repeat(length) }
    const leaf = await leafOf(subtle, parseLine(utf8(lineOf(long))))
    t.equal(textOf(leaf), serverLeafOf(long), `${length} characters`)
  }
})

t.test('a line that is no event in canonical JSON is refused', async (t) => {
  const line = lineOf(event)
  const depth = 100_000
  for (const text of [
    '',
    'null',
    '[]',
    '{}',
    'x',
    line.slice(0, -1),
    ` ${line}`,
    line.replace('"id"', '"ID"'),
    line.replace('"data":', '"data" :'),
    line.replace('{"data"', '{"data":1,"data"'),
    line.replace(`"position":${at(17)}`, '"position":"17"'),
    line.replace(`"position":${at(17)}`, '"position":1.5'),
    `${'{"a":'.repeat(depth)}1${'}'.repeat(depth)}`,
  ])
    t.throws(
      () => parseLine(utf8(text)),
      { name: 'VerificationFailed', failure: { reason: 'malformed', part: 'event' } },
      text.slice(0, 60),
    )
  t.throws(() => parseLine(Uint8Array.of(0xff)), {
    name: 'VerificationFailed',
    failure: { reason: 'malformed' },
  })
})

t.test('an event that is shown as it is stored has no difference', async (t) => {
  t.strictSame(compareEvent(listed, stored), { encrypted: ['data.text'] })
  t.strictSame(compareEvent(JSON.parse(JSON.stringify(listed)), stored), {
    encrypted: ['data.text'],
  })
})

t.test('a difference between listed and stored event is located', async (t) => {
  const { name, ...rest } = listed.data
  for (const [field, changed] of [
    ['id', { ...listed, id: 'event-2' }],
    ['type', { ...listed, type: 'BoxClosed' }],
    ['revision', { ...listed, revision: 4 }],
    ['stream', { ...listed, stream: 'box-org-1_b-2' }],
    ['data.name', { ...listed, data: { ...listed.data, name: 'y' } }],
    ['data.name', { ...listed, data: rest }],
    ['data.more', { ...listed, data: { ...listed.data, more: undefined } }],
    ['data.list.1.deep', { ...listed, data: { ...listed.data, list: [1, { deep: false }] } }],
    ['data.list.2', { ...listed, data: { ...listed.data, list: [1, { deep: true }, 2] } }],
    ['data.list', { ...listed, data: { ...listed.data, list: { 0: 1, 1: { deep: true } } } }],
    ['data', { ...listed, data: null }],
    ['metadata.at', { ...listed, metadata: { ...metadata, at: '2020-01-01T00:00:00.000Z' } }],
    ['metadata', { ...listed, metadata: null }],
  ] as const)
    t.match(compareEvent(changed, stored), { difference: field })
})

t.test('only data has encrypted fields', async (t) => {
  const box = { $sealed: 'k', box: 'AA==' }
  const odd = parseLine(utf8(lineOf({ ...event, metadata: { ...metadata, actor: box } as never })))
  t.match(compareEvent({ ...listed, metadata: { ...metadata, actor: {} } }, odd), {
    difference: /^metadata\.actor/,
  })
})

t.test('metadata that is no object is listed as null', async (t) => {
  const odd = parseLine(utf8(lineOf({ ...event, metadata: 'odd' as never })))
  t.strictSame(compareEvent({ ...listed, metadata: null }, odd), { encrypted: ['data.text'] })
})
