import t from 'tap'
import {
  badgeOf,
  evidenceFile,
  idleBadge,
  verifyingBadge,
} from '../../../console/src/proof/proof-badge.ts'
import type { VerifiedLog } from '../../../console/src/proof/result.ts'

const log: VerifiedLog = {
  origin: 'reprise/org-1',
  size: 5,
  root: 'AAAA',
  key: 'key',
  keySource: 'served',
  earlier: { kind: 'none', reason: 'first_visit' },
  isRemembered: true,
}

t.test('a badge is idle, then verifying', async (t) => {
  t.match(idleBadge, { state: 'idle', label: 'Not verified' })
  t.match(verifyingBadge, { state: 'verifying', label: 'Verifying…' })
})

t.test('the label of a verified badge claims only what was verified', async (t) => {
  t.match(badgeOf({ kind: 'verified', log }), { state: 'verified', label: 'Signature verified' })
  const earlier = { kind: 'compared', size: 5, at: '2026-01-01T10:00:00.000Z' } as const
  t.match(badgeOf({ kind: 'verified', log: { ...log, earlier } }), { label: 'History verified' })
  const event = { index: 1, leafHash: 'AAAA', encrypted: [] }
  t.match(badgeOf({ kind: 'verified', log, event }), { label: 'Event verified' })
})

t.test('details are proofs, then limits, then advice', async (t) => {
  const { details } = badgeOf({ kind: 'verified', log })
  const kinds = details.map(({ kind }) => kind)
  t.strictSame([...new Set(kinds)], ['proves', 'limit', 'advice'])
  t.strictSame(
    kinds,
    kinds.toSorted((a, b) => order.indexOf(a) - order.indexOf(b)),
  )
})
const order = ['proves', 'limit', 'advice']

t.test('a failed badge has the contradicting checkpoints as a file', async (t) => {
  const evidence = { remembered: 'one\n', served: 'two\n' }
  const earlier = { size: 5, at: '2026-01-01T10:00:00.000Z' }
  const badge = badgeOf({
    kind: 'failed',
    failure: { reason: 'history_rewritten', size: 5, earlier, evidence },
  })
  t.match(badge, { state: 'failed', label: 'Verification failed', evidence })
  t.match(evidenceFile(evidence), /remembered:\n\none\n\nCheckpoint .+ served:\n\ntwo\n$/)
  const altered = badgeOf({ kind: 'failed', failure: { reason: 'event_altered', index: 1 } })
  t.notOk('evidence' in altered)
})

t.test('an unavailable or unsupported badge is neither green nor red', async (t) => {
  t.match(badgeOf({ kind: 'unsupported', missing: 'ed25519' }), {
    state: 'unsupported',
    label: 'Not supported',
  })
  t.match(badgeOf({ kind: 'unavailable', unavailable: { reason: 'offline' } }), {
    state: 'unavailable',
    label: 'Not verified',
  })
})
