import fc from 'fast-check'
import t from 'tap'
import { explain } from '../../../console/src/proof/explain.ts'
import { logVerifier } from '../../../console/src/proof/log-verifier.ts'
import { canonicalJson } from '../../../src/transparency/canonical-json.ts'
import { signerOf } from '../../../src/transparency/note.ts'
import {
  type Dishonest,
  lineAt,
  linesOf,
  listedAt,
  logDouble,
  memoryDouble,
  origin,
} from '../../support/log-double.ts'

const firstDay = '2026-01-01T10:00:00.000Z'
const secondDay = '2026-01-02T11:30:00.000Z'

type Settings = Partial<Parameters<typeof logVerifier>[0]>

const verifierOf = ({ fetch }: ReturnType<typeof logDouble>, settings: Settings = {}) =>
  logVerifier({ origin, at: '/audit', fetch, now: () => new Date(firstDay), ...settings })

/** A log of some events that a browser has verified, and its next visit. */
const visited = async (count: number, settings: Settings = {}) => {
  const log = logDouble(linesOf(count))
  const memory = memoryDouble()
  await verifierOf(log, { memory }).verifyLog()
  const now = () => new Date(secondDay)
  return { log, memory, next: verifierOf(log, { memory, now, ...settings }) }
}

t.test('a first visit verifies the signature, and has nothing to compare with', async (t) => {
  const log = logDouble(linesOf(5))
  const memory = memoryDouble()
  const result = await verifierOf(log, { memory }).verifyLog()
  t.match(result, {
    kind: 'verified',
    log: {
      origin,
      size: 5,
      key: log.signer.vkey,
      keySource: 'served',
      earlier: { kind: 'none', reason: 'first_visit' },
      isRemembered: true,
    },
  })
  t.equal(memory.items.size, 1)
  t.strictSame(log.requests, ['key', 'checkpoint'])
})

t.test('a later visit compares with the earlier one, and asks for no key', async (t) => {
  const { log, next } = await visited(5)
  t.match(await next.verifyLog(), {
    kind: 'verified',
    log: { size: 5, keySource: 'remembered', earlier: { kind: 'compared', size: 5, at: firstDay } },
  })
  log.lines.push(lineAt(5), lineAt(6))
  t.match(await next.verifyLog(), {
    kind: 'verified',
    log: { size: 7, earlier: { kind: 'compared', size: 5, at: secondDay } },
  })
  t.strictSame(log.requests.slice(2), [
    'checkpoint',
    'checkpoint',
    'proofs/consistency?from=5&to=7',
  ])
})

t.test('a history that was empty may grow', async (t) => {
  const { log, next } = await visited(0)
  log.lines.push(lineAt(0))
  t.match(await next.verifyLog(), { kind: 'verified', log: { size: 1, earlier: { size: 0 } } })
})

t.test('every event of a history is verified', async (t) => {
  const log = logDouble(linesOf(600))
  const verifier = verifierOf(log)
  for (const index of [0, 1, 255, 256, 511, 512, 599]) {
    const result = await verifier.verifyEvent(listedAt(index))
    t.match(result, { kind: 'verified', log: { size: 600 }, event: { index, encrypted: [] } })
  }
  log.requests.length = 0
  await verifier.verifyEvent(listedAt(300), { likely: 300 })
  t.strictSame(log.requests.toSorted(), [
    'checkpoint',
    'export?from=300&to=301',
    'key',
    'tile/0/001',
    'tile/0/002.p/88',
    'tile/1/000.p/2',
  ])
})

t.test('an event with 100 KB of data is verified', async (t) => {
  const long = lineAt(3, 'é'.repeat(50_000))
  const { leafOfLine } = await import('../../../src/transparency/leaf.ts')
  const log = logDouble(linesOf(5).with(3, leafOfLine(long)))
  log.serve((path) => (path.startsWith('export?from=3') ? { body: `${long}\n` } : undefined))
  const verifier = verifierOf(log)
  t.match(await verifier.verifyEvent(JSON.parse(long)), { kind: 'verified', event: { index: 3 } })
  log.serve((path) =>
    path.startsWith('export?from=3') ? { body: `${long.replace('éé"', 'éx"')}\n` } : undefined,
  )
  t.match(await verifier.verifyEvent(JSON.parse(long)), { failure: { reason: 'event_altered' } })
})

const bytesOf = (body: string | Uint8Array) => Buffer.from(body)
const flip = (body: string | Uint8Array, at: number) => {
  const bytes = bytesOf(body)
  bytes[at] = (bytes[at] ?? 0) ^ 1
  return bytes
}

const otherSigner = signerOf(origin, Buffer.alloc(32, 9))
const root32 = Buffer.alloc(32, 1).toString('base64')
const signed = (text: string) => logDouble([]).signer.sign(text)

/** A path and what is served there: fails how? A log of 300 events, 290 on the first visit. */
const attacks: Record<
  string,
  [RegExp, (body: string | Uint8Array) => string | Uint8Array, object]
> = {
  'a changed checkpoint': [
    /^checkpoint/,
    (body) => `${body}`.replace('300', '301'),
    { reason: 'signature_wrong' },
  ],
  'a changed signature': [
    /^checkpoint/,
    (body) => flip(body, bytesOf(body).length - 20),
    { reason: /signature_wrong|malformed/ },
  ],
  'a checkpoint of another key': [
    /^checkpoint/,
    (body) => otherSigner.sign(`${body}`.replace(/\n\n.*/s, '\n')),
    { reason: 'signature_missing' },
  ],
  'a checkpoint of another log': [
    /^checkpoint/,
    () => signed(`reprise/org-2\n300\n${root32}\n`),
    { reason: 'wrong_origin', actual: 'reprise/org-2' },
  ],
  'a truncated checkpoint': [
    /^checkpoint/,
    (body) => `${body}`.slice(0, 60),
    { reason: 'malformed', part: 'checkpoint' },
  ],
  'an empty checkpoint': [/^checkpoint/, () => '', { reason: 'malformed', part: 'checkpoint' }],
  'a huge checkpoint': [
    /^checkpoint/,
    () => 'x'.repeat(1_000_000),
    { reason: 'malformed', part: 'checkpoint' },
  ],
  'a signed text that is no checkpoint': [
    /^checkpoint/,
    () => signed(`${origin}\nmany\n${root32}\n`),
    { reason: 'malformed', part: 'checkpoint' },
  ],
  'a shorter history': [
    /^checkpoint/,
    () => signed(`${origin}\n289\n${root32}\n`),
    { reason: 'history_shorter', size: 289, earlier: { size: 290, at: firstDay } },
  ],
  'another history of the same size': [
    /^checkpoint/,
    () => signed(`${origin}\n290\n${root32}\n`),
    { reason: 'history_rewritten', size: 290, earlier: { size: 290 } },
  ],
  'another root': [
    /^checkpoint/,
    () => signed(`${origin}\n300\n${root32}\n`),
    { reason: 'history_rewritten', size: 300, earlier: { size: 290 } },
  ],
  'a size that the server cannot prove': [
    /^checkpoint/,
    () => signed(`${origin}\n9007199254740991\n${root32}\n`),
    { reason: 'missing', part: 'consistency proof' },
  ],
  'a changed consistency proof': [
    /^proofs/,
    () => JSON.stringify({ hashes: [root32] }),
    { reason: 'history_rewritten', size: 300 },
  ],
  'an empty consistency proof': [/^proofs/, () => '{"hashes":[]}', { reason: 'history_rewritten' }],
  'a consistency proof without hashes': [
    /^proofs/,
    () => '{}',
    { reason: 'malformed', part: 'consistency proof' },
  ],
  'a consistency proof that is no JSON': [
    /^proofs/,
    () => '{',
    { reason: 'malformed', part: 'consistency proof' },
  ],
  'a consistency proof of short hashes': [
    /^proofs/,
    () => '{"hashes":["AA=="]}',
    { reason: 'malformed' },
  ],
  'a consistency proof in wrong base64': [
    /^proofs/,
    () => JSON.stringify({ hashes: [root32.slice(0, -1)] }),
    { reason: 'malformed', part: 'consistency proof' },
  ],
  'a consistency proof of numbers': [/^proofs/, () => '{"hashes":[1]}', { reason: 'malformed' }],
  'a huge consistency proof': [
    /^proofs/,
    () => JSON.stringify({ hashes: Array.from({ length: 1_000 }, () => root32) }),
    { reason: 'malformed', part: 'consistency proof' },
  ],
  'a long consistency proof': [
    /^proofs/,
    () => JSON.stringify({ hashes: Array.from({ length: 60 }, () => root32) }),
    { reason: 'history_rewritten' },
  ],
  'a tile with a changed byte': [
    /^tile.0.000/,
    (body) => flip(body, 5_000),
    { reason: 'tiles_altered', index: 7 },
  ],
  'a tile with a changed leaf': [
    /^tile.0.000/,
    (body) => flip(body, 7 * 32),
    { reason: 'tiles_altered', index: 7 },
  ],
  'a changed partial tile': [
    /^tile.0.001/,
    (body) => flip(body, 0),
    { reason: 'tiles_altered', index: 7 },
  ],
  'a short tile': [
    /^tile.0.000/,
    (body) => bytesOf(body).subarray(1),
    { reason: 'malformed', part: 'tile' },
  ],
  'a tile without its last hash': [
    /^tile.0.000/,
    (body) => bytesOf(body).subarray(32),
    { reason: 'malformed', part: 'tile' },
  ],
  'an empty tile': [/^tile/, () => '', { reason: 'malformed', part: 'tile' }],
  'a long tile': [
    /^tile/,
    (body) => Buffer.concat([bytesOf(body), Buffer.alloc(32)]),
    { reason: 'malformed', part: 'tile' },
  ],
  'a changed event': [
    /^export/,
    (body) => `${body}`.replace('Name', 'Game'),
    { reason: 'event_altered', index: 7 },
  ],
  'another event in its place': [
    /^export/,
    (body) => `${body}`.replace(/"position":\d+/, '"position":80').replace('event-299', 'event-7'),
    { reason: 'event_altered' },
  ],
  'an event that is not canonical': [
    /^export/,
    (body) => ` ${body}`,
    { reason: 'malformed', part: 'event' },
  ],
  'two events': [/^export/, (body) => `${body}${body}`, { reason: 'malformed', part: 'event' }],
  'no event': [/^export/, () => '', { reason: 'malformed', part: 'event' }],
  'half of an event': [
    /^export/,
    (body) => `${body}`.slice(0, 40),
    { reason: 'malformed', part: 'event' },
  ],
}

for (const [name, [path, answer, failure]] of Object.entries(attacks))
  t.test(`a server with ${name} is detected`, async (t) => {
    const { log, memory, next } = await visited(290)
    for (let n = 290; n < 300; n++) log.lines.push(lineAt(n))
    const before = [...memory.items.values()]
    const dishonest: Dishonest = (requested, { body }) =>
      path.test(requested) ? { body: answer(body) } : undefined
    log.serve(dishonest)
    const result = await next.verifyEvent(listedAt(7))
    t.match(result, { kind: 'failed', failure })
    t.match(explain(result).summary, /^[A-Z].+\.$/)
    if (/^\^(checkpoint|proofs)/.test(path.source))
      t.strictSame([...memory.items.values()], before, 'and nothing of it is remembered')
  })

t.test('no changed byte of any answer is verified as something else', async (t) => {
  const { log, memory } = await visited(290)
  for (let n = 290; n < 300; n++) log.lines.push(lineAt(n))
  const remembered = [...memory.items]
  const visit = () =>
    verifierOf(log, { memory: memoryDouble(new Map(remembered)) }).verifyEvent(listedAt(7))
  log.requests.length = 0
  const truth = await visit()
  const paths = [...log.requests]
  const changes = {
    flip: (bytes: Buffer, at: number) => flip(bytes, at),
    cut: (bytes: Buffer, at: number) => bytes.subarray(0, at),
    insert: (bytes: Buffer, at: number) =>
      Buffer.concat([bytes.subarray(0, at), Buffer.of(0x30), bytes.subarray(at)]),
  }
  await fc.assert(
    fc.asyncProperty(
      fc.constantFrom(...paths),
      fc.constantFrom(...Object.values(changes)),
      fc.nat(),
      async (path, change, at) => {
        log.serve((requested, { body }) => {
          const bytes = bytesOf(body)
          return requested === path ? { body: change(bytes, at % bytes.length) } : undefined
        })
        const result = await visit()
        return result.kind === 'failed' || canonicalJson(result) === canonicalJson(truth)
      },
    ),
    { numRuns: 150 },
  )
  t.match(truth, { kind: 'verified', event: { index: 7 } })
  t.ok(paths.length > 5, paths.join(' '))
})

t.test('a key in a wrong form is refused on the first visit', async (t) => {
  for (const body of ['', 'x', `${otherSigner.vkey}x`, 'x'.repeat(1_000_000)]) {
    const log = logDouble(linesOf(5))
    log.serve((path) => (path === 'key' ? { body } : undefined))
    t.match(await verifierOf(log).verifyLog(), { failure: { reason: 'malformed', part: 'key' } })
  }
})

t.test('a checkpoint of another log is detected on the first visit', async (t) => {
  const other = signerOf('reprise/org-2', Buffer.alloc(32, 7))
  const log = logDouble(linesOf(5))
  log.serve((path) => {
    if (path === 'key') return { body: other.vkey }
    return path === 'checkpoint' ? { body: other.sign(`reprise/org-2\n1\n${root32}\n`) } : undefined
  })
  t.match(await verifierOf(log).verifyLog(), {
    failure: { reason: 'wrong_origin', expected: origin, actual: 'reprise/org-2' },
  })
})

t.test('a given key decides instead of the served one', async (t) => {
  const log = logDouble(linesOf(5))
  const right = verifierOf(log, { key: `${log.signer.vkey}\n` })
  t.match(await right.verifyLog(), { kind: 'verified', log: { keySource: 'given' } })
  const wrong = verifierOf(log, { key: otherSigner.vkey })
  t.match(await wrong.verifyLog(), {
    failure: { reason: 'signature_missing', key: otherSigner.vkey },
  })
  const foreign = verifierOf(log, { key: signerOf('reprise/org-2', Buffer.alloc(32, 7)).vkey })
  t.match(await foreign.verifyLog(), { failure: { reason: 'wrong_origin' } })
  t.notOk(log.requests.includes('key'))
  const { next } = await visited(5, { key: otherSigner.vkey })
  t.match(await next.verifyLog(), {
    failure: { reason: 'key_changed', remembered: log.signer.vkey, given: otherSigner.vkey },
  })
})

t.test('a rewritten history leaves both signed checkpoints as evidence', async (t) => {
  const { log, memory, next } = await visited(5)
  const [remembered = ''] = memory.items.values()
  log.lines[2] = lineAt(2, 'forged')
  const result = await next.verifyLog()
  const served = (await (await log.fetch('/audit/checkpoint')).text()).toString()
  t.match(result, {
    failure: {
      reason: 'history_rewritten',
      size: 5,
      earlier: { size: 5, at: firstDay },
      evidence: { remembered: JSON.parse(remembered).note, served },
    },
  })
  log.lines.push(lineAt(5))
  t.match(await next.verifyLog(), { failure: { reason: 'history_rewritten', size: 6 } })
  next.forget()
  t.match(await next.verifyLog(), { kind: 'verified', log: { earlier: { reason: 'first_visit' } } })
})

t.test('an event that the history does not have is detected', async (t) => {
  const log = logDouble(linesOf(20))
  for (const position of [0, 5, 15, 205, 1e15])
    t.match(await verifierOf(log).verifyEvent({ ...listedAt(7), position }), {
      failure: { reason: 'event_missing', position },
    })
})

t.test('an event that is listed differently is detected', async (t) => {
  const verifier = verifierOf(logDouble(linesOf(20)))
  const listed = { ...listedAt(7), data: { name: 'forged' } }
  t.match(await verifier.verifyEvent(listed), {
    failure: { reason: 'event_listed_differently', index: 7, field: 'data.name' },
  })
})

t.test('encrypted fields are listed', async (t) => {
  const box = { $sealed: 'session:s-1', box: 'AA==' }
  const line = canonicalJson({ ...listedAt(7), data: { text: box } })
  const log = logDouble(linesOf(20).with(7, line))
  const listed = { ...listedAt(7), data: { text: 'decrypted' } }
  t.match(await verifierOf(log).verifyEvent(listed), { event: { encrypted: ['data.text'] } })
})

t.test('an unreachable server is neither verified nor failed', async (t) => {
  const log = logDouble(linesOf(5))
  for (const status of [401, 403, 404, 429, 500, 503]) {
    log.serve((path) => (path === 'checkpoint' ? { status, body: '{}' } : undefined))
    t.match(await verifierOf(log).verifyLog(), {
      kind: 'unavailable',
      unavailable: { reason: 'refused', status },
    })
  }
  const fetch = async () => Promise.reject(new TypeError('fetch failed'))
  t.match(await verifierOf(log, { fetch }).verifyLog(), { unavailable: { reason: 'offline' } })
  const signal = AbortSignal.abort()
  t.match(await verifierOf(log).verifyLog({ signal }), { unavailable: { reason: 'aborted' } })
})

t.test('a connection that breaks in an answer verifies nothing', async (t) => {
  const body = new ReadableStream({ pull: (controller) => controller.error(new Error('reset')) })
  const fetch = async () => new Response(body)
  t.match(await verifierOf(logDouble([]), { fetch }).verifyLog(), {
    unavailable: { reason: 'offline' },
  })
})

t.test('an endless answer is cut at its limit', async (t) => {
  let pulled = 0
  const body = new ReadableStream({
    pull: (controller) => {
      pulled++
      controller.enqueue(new Uint8Array(65_536))
    },
  })
  const log = logDouble(linesOf(5))
  const fetch = async (url: string) =>
    url.endsWith('checkpoint') ? new Response(body) : log.fetch(url)
  t.match(await verifierOf(log, { fetch }).verifyLog(), { failure: { reason: 'malformed' } })
  t.ok(pulled <= 8, `${pulled} parts`)
})

t.test('tiles that the server does not have are detected', async (t) => {
  const log = logDouble(linesOf(300))
  for (const [path, part] of [
    ['tile', 'tile'],
    ['export', 'event'],
  ] as const) {
    log.serve((requested) => (requested.startsWith(path) ? { status: 404, body: '{}' } : undefined))
    t.match(await verifierOf(log).verifyEvent(listedAt(7)), {
      failure: { reason: 'missing', part },
    })
  }
})

t.test('a browser without Ed25519 or WebCrypto claims nothing', async (t) => {
  const log = logDouble(linesOf(5))
  const { subtle } = globalThis.crypto
  const unsupported = (name: string) => async () => Promise.reject(new DOMException('no', name))
  const digest = subtle.digest.bind(subtle)
  const importKey = subtle.importKey.bind(subtle)
  for (const [missing, crypto] of [
    ['webcrypto', {}],
    ['webcrypto', { subtle: undefined }],
    [
      'ed25519',
      {
        subtle: {
          digest,
          importKey: unsupported('NotSupportedError'),
          verify: subtle.verify.bind(subtle),
        },
      },
    ],
    ['ed25519', { subtle: { digest, importKey, verify: unsupported('NotSupportedError') } }],
    ['ed25519', { subtle: { digest, importKey, verify: async () => true } }],
    ['ed25519', { subtle: { digest, importKey, verify: async () => false } }],
  ] as const) {
    const verifier = verifierOf(log, { crypto: crypto as never })
    t.strictSame(await verifier.verifyLog(), { kind: 'unsupported', missing })
    t.match(await verifier.verifyEvent(listedAt(1)), { kind: 'unsupported' })
  }
  t.strictSame(log.requests, [], 'and asks for nothing')
})

t.test('storage that is missing, full or damaged is told', async (t) => {
  const log = logDouble(linesOf(5))
  const noStorage = {
    kind: 'verified',
    log: { earlier: { reason: 'no_storage' }, isRemembered: false },
  }
  t.match(await verifierOf(log).verifyLog(), noStorage)
  const denied = () => {
    throw new DOMException('denied', 'SecurityError')
  }
  const closed = { getItem: denied, setItem: denied, removeItem: denied }
  const verifier = verifierOf(log, { memory: closed })
  t.match(await verifier.verifyLog(), noStorage)
  verifier.forget()
  const full = { ...memoryDouble(), setItem: denied }
  t.match(await verifierOf(log, { memory: full }).verifyLog(), {
    log: { earlier: { reason: 'first_visit' }, isRemembered: false },
  })
  const memory = memoryDouble()
  await verifierOf(log, { memory }).verifyLog()
  const [[name = '', text = ''] = []] = memory.items
  const note = { ...JSON.parse(text), note: JSON.parse(text).note.replace('\n5\n', '\n4\n') }
  for (const damaged of [
    '',
    '{',
    'null',
    '{}',
    '{"key":1}',
    text.slice(0, -9),
    JSON.stringify(note),
  ]) {
    memory.items.set(name, damaged)
    t.match(await verifierOf(log, { memory }).verifyLog(), {
      kind: 'verified',
      log: {
        keySource: 'served',
        earlier: { kind: 'none', reason: 'unreadable' },
        isRemembered: true,
      },
    })
    t.not(memory.items.get(name), damaged, 'and replaced')
  }
})

t.test('a checkpoint that another tab stores in the meantime is compared too', async (t) => {
  const { log, memory, next } = await visited(5)
  const [name = ''] = memory.items.keys()
  const other = logDouble(linesOf(9))
  const otherMemory = memoryDouble()
  await verifierOf(other, { memory: otherMemory }).verifyLog()
  for (let n = 5; n < 7; n++) log.lines.push(lineAt(n))
  log.serve((path) => {
    if (path.startsWith('proofs')) memory.items.set(name, otherMemory.items.get(name) ?? '')
    return undefined
  })
  t.match(await next.verifyLog(), {
    failure: { reason: 'history_shorter', size: 7, earlier: { size: 9 } },
  })
})
