import { explain } from './explain.ts'
import type { Evidence } from './failure.ts'
import type { EventResult, LogResult } from './result.ts'

export type ProofState =
  | 'idle'
  | 'verifying'
  | 'verified'
  | 'failed'
  /** Network, rights or the user prevented the verification: neither green nor red. */
  | 'unavailable'
  | 'unsupported'

/** One line of the badge's details, under the heading of its kind. */
export type ProofDetail = { kind: 'proves' | 'limit' | 'advice'; text: string }

/** What a screen shows of a verification. */
export type ProofBadge = {
  state: ProofState
  /** A few words for the badge itself. */
  label: string
  /** One or two sentences. */
  text: string
  details: readonly ProofDetail[]
  /** Two contradicting checkpoints, to be saved as a file. */
  evidence?: Evidence
}

export const idleBadge: ProofBadge = {
  state: 'idle',
  label: 'Not verified',
  text: 'Verify in this browser that the history was not changed.',
  details: [],
}

export const verifyingBadge: ProofBadge = {
  state: 'verifying',
  label: 'Verifying…',
  text: 'Checking the server’s signature and hashes in this browser.',
  details: [],
}

const labelOf = (result: LogResult | EventResult): string => {
  if (result.kind === 'failed') return 'Verification failed'
  if (result.kind === 'unavailable') return 'Not verified'
  if (result.kind === 'unsupported') return 'Not supported'
  if ('event' in result) return 'Event verified'
  return result.log.earlier.kind === 'compared' ? 'History verified' : 'Signature verified'
}

/** The badge of a result. */
export const badgeOf = (result: LogResult | EventResult): ProofBadge => {
  const { summary, proves, limits, advice } = explain(result)
  const lines = (kind: ProofDetail['kind'], texts: readonly string[]) =>
    texts.map((text) => ({ kind, text }))
  const failure = result.kind === 'failed' ? result.failure : undefined
  return {
    state: result.kind,
    label: labelOf(result),
    text: summary,
    details: [...lines('proves', proves), ...lines('limit', limits), ...lines('advice', advice)],
    ...(failure && 'evidence' in failure ? { evidence: failure.evidence } : {}),
  }
}

/** Two contradicting checkpoints as the text of a file. */
export const evidenceFile = ({ remembered, served }: Evidence): string =>
  `Checkpoint that the browser remembered:\n\n${remembered}\nCheckpoint that the server served:\n\n${served}`
