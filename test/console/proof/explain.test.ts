import t from 'tap'
import { explain } from '../../../console/src/proof/explain.ts'
import type { Failure } from '../../../console/src/proof/failure.ts'
import type { EventResult, VerifiedLog } from '../../../console/src/proof/result.ts'

const log: VerifiedLog = {
  origin: 'reprise/org-1',
  size: 1_204,
  root: 'AAAA',
  key: 'reprise/org-1+5f0c1e2a+AV',
  keySource: 'remembered',
  earlier: { kind: 'compared', size: 1_203, at: '2026-01-01T10:00:00.000Z' },
  isRemembered: true,
}
const event = { index: 1_000, leafHash: 'AAAA', encrypted: [] }

t.test('a verified log is explained with what it does not show', async (t) => {
  t.strictSame(explain({ kind: 'verified', log }), {
    summary: 'The history of 1,204 events is signed, and unchanged since 2026-01-01 10:00 UTC.',
    proves: [
      'The holder of the key reprise/org-1+5f0c1e2a+AV signed a history of 1,204 events.',
      'Its first 1,203 events are those that this browser verified on 2026-01-01 10:00 UTC: none ' +
        'was changed, removed, inserted or reordered since. 1 event was added.',
    ],
    limits: [
      'The verifier key is the one that this server gave this browser on the first visit. Compare ' +
        'it with a copy that you received through a trusted channel.',
      'No independent witness confirmed this history. The server could show other people another one.',
      'It does not show that this page lists all events: filters and lists are not part of the proof.',
      'It does not show that what the events say is true, only that it was recorded this way.',
      'The code of this page came from the same server.',
    ],
    advice: [
      'For a check that does not depend on this page, run `reprise audit verify` with a key and a ' +
        'checkpoint that you stored yourself.',
    ],
  })
})

t.test('a visit without an earlier one claims no unchanged history', async (t) => {
  for (const [reason, limit] of [
    [
      'first_visit',
      /^This is the first verification in this browser, so there is nothing to compare/,
    ],
    ['unreadable', /^The checkpoint that this browser stored cannot be read, so/],
    ['no_storage', /^This browser stores no checkpoints, so/],
  ] as const) {
    const first = { ...log, earlier: { kind: 'none', reason }, keySource: 'served' } as const
    const { summary, proves, limits } = explain({ kind: 'verified', log: first })
    t.match(summary, /There is no earlier visit to compare with\.$/)
    t.equal(proves.length, 1)
    t.match(limits[0], limit)
    t.match(limits[1], /^The verifier key came from this server\./)
  }
})

t.test('a given key needs no comparison, and a lost checkpoint is named', async (t) => {
  const { limits } = explain({
    kind: 'verified',
    log: { ...log, keySource: 'given', isRemembered: false },
  })
  t.notMatch(limits.join(), /verifier key/)
  t.match(limits[0], /^This browser did not store the checkpoint\./)
})

t.test('a history without new events says so', async (t) => {
  const same = { ...log, earlier: { ...log.earlier, size: 1_204 } } as VerifiedLog
  t.match(explain({ kind: 'verified', log: same }).proves[1], /No event was added\.$/)
})

t.test('a verified event is explained with its encrypted fields', async (t) => {
  const plain = explain({ kind: 'verified', log, event })
  t.equal(plain.summary, 'The signed history of 1,204 events includes this event, at index 1,000.')
  t.equal(
    plain.proves[0],
    'The event at index 1,000 of the signed history has the fields that are shown here.',
  )
  const encrypted = ['data.a', 'data.b', 'data.c', 'data.d']
  const { limits } = explain({ kind: 'verified', log, event: { ...event, encrypted } })
  t.equal(
    limits[0],
    'The history stores 4 fields of this event encrypted (data.a, data.b, data.c, …). The proof ' +
      'covers the encrypted form; the server decrypted what you see.',
  )
})

const at = '2026-01-01T10:00:00.000Z'
const evidence = { remembered: 'a', served: 'b' }
const key = 'reprise/org-1+5f0c1e2a+AV'

/** Every failure, and its sentence. */
const sentences: readonly [Failure, string][] = [
  [
    { reason: 'malformed', part: 'tile', detail: 'it has 3 bytes instead of 32' },
    'The server served a tile of hashes that is malformed: it has 3 bytes instead of 32.',
  ],
  [
    { reason: 'missing', part: 'event' },
    'The server does not serve an event that belongs to its signed history.',
  ],
  [
    { reason: 'wrong_origin', expected: 'reprise/org-1', actual: 'reprise/org-2' },
    'The key or the checkpoint is of another history: reprise/org-2 instead of reprise/org-1.',
  ],
  [
    { reason: 'key_changed', remembered: key, given: 'x' },
    `The given key x is not the one that this browser remembers, ${key}.`,
  ],
  [
    { reason: 'signature_missing', key },
    `The checkpoint has no signature by the key ${key}. It was signed with another key, or not at all.`,
  ],
  [
    { reason: 'signature_wrong', key },
    `The signature by the key ${key} does not belong to this checkpoint: one was altered.`,
  ],
  [
    { reason: 'history_shorter', size: 1, earlier: { size: 1_204, at }, evidence },
    'Events were removed: the history has 1 event, but had 1,204 events on 2026-01-01 10:00 UTC.',
  ],
  [
    { reason: 'history_rewritten', size: 5, earlier: { size: 5, at }, evidence },
    'The history was rewritten: its 5 events are not those of 2026-01-01 10:00 UTC.',
  ],
  [
    { reason: 'history_rewritten', size: 7, earlier: { size: 5, at }, evidence },
    'The server cannot prove that its 7 events begin with the 5 events of 2026-01-01 10:00 UTC: ' +
      'the history was rewritten, or the proof was altered.',
  ],
  [
    { reason: 'tiles_altered', index: 7 },
    'The hashes around index 7 do not lead to the signed root: they were altered, so the event ' +
      'cannot be verified.',
  ],
  [
    { reason: 'event_missing', position: 70 },
    'The signed history has no event at position 70, but this page shows one.',
  ],
  [
    { reason: 'event_altered', index: 7 },
    'The event at index 7 was altered: it is not the one that was signed.',
  ],
  [
    { reason: 'event_listed_differently', index: 7, field: 'data.name' },
    'The event at index 7 has another data.name in the signed history than on this page.',
  ],
]

for (const [failure, sentence] of sentences)
  t.test(`a failure is explained: ${sentence}`, async (t) => {
    const { summary, proves, limits, advice } = explain({ kind: 'failed', failure })
    t.equal(summary, sentence)
    t.strictSame(proves, [], 'and proves nothing')
    t.strictSame(limits, ['It does not show who caused this, or why.'])
    t.match(advice.at(-1), /^Report this/)
    t.equal(
      advice.some((text) => text.startsWith('Save both checkpoints')),
      'evidence' in failure,
    )
  })

t.test(
  'an unavailable or unsupported result is neither a confirmation nor a failure',
  async (t) => {
    const others: readonly [EventResult, RegExp][] = [
      [
        { kind: 'unavailable', unavailable: { reason: 'offline' } },
        /could not be reached\. Nothing/,
      ],
      [{ kind: 'unavailable', unavailable: { reason: 'aborted' } }, /was stopped\. Nothing/],
      [
        { kind: 'unavailable', unavailable: { reason: 'refused', status: 403 } },
        /status 403\. Nothing/,
      ],
      [{ kind: 'unsupported', missing: 'webcrypto' }, /HTTPS and on localhost only\. Nothing/],
      [{ kind: 'unsupported', missing: 'ed25519' }, /Safari 17 or later can\. Nothing/],
    ]
    for (const [result, summary] of others) {
      const explanation = explain(result)
      t.match(explanation.summary, summary)
      t.strictSame(explanation.proves, [])
      t.match(explanation.limits[0], /neither a confirmation nor a sign of tampering/)
    }
  },
)

t.test('a long text of the server is shortened', async (t) => {
  const failure = { reason: 'wrong_origin', expected: 'a', actual: 'x'.repeat(10_000) } as const
  const { summary } = explain({ kind: 'failed', failure })
  t.ok(summary.length < 250)
})
