/** What the server served. */
export type Part = 'key' | 'checkpoint' | 'consistency proof' | 'tile' | 'event'

/** Two signed notes that contradict each other: whoever has both can prove it to others. */
export type Evidence = { remembered: string; served: string }

/** The checkpoint of an earlier visit: number of events, and when it was verified (ISO 8601). */
export type Earlier = { size: number; at: string }

/** Why a verification failed: the server contradicts itself, its signature or the past. */
export type Failure =
  /** Not in the format of its specification. */
  | { reason: 'malformed'; part: Part; detail: string }
  /** The signed history includes this part, but the server does not serve it. */
  | { reason: 'missing'; part: Part }
  | { reason: 'wrong_origin'; expected: string; actual: string }
  /** The remembered checkpoint was signed with another key than the one given by the caller. */
  | { reason: 'key_changed'; remembered: string; given: string }
  | { reason: 'signature_missing'; key: string }
  | { reason: 'signature_wrong'; key: string }
  | { reason: 'history_shorter'; size: number; earlier: Earlier; evidence: Evidence }
  | { reason: 'history_rewritten'; size: number; earlier: Earlier; evidence: Evidence }
  | { reason: 'tiles_altered'; index: number }
  | { reason: 'event_missing'; position: number }
  | { reason: 'event_altered'; index: number }
  /** The event is in the history, but the server listed it with another value in this field. */
  | { reason: 'event_listed_differently'; index: number; field: string }

/** Why nothing could be verified. */
export type Unavailable =
  | { reason: 'aborted' }
  | { reason: 'offline' }
  | { reason: 'refused'; status: number }

/** What the browser lacks. */
export type Unsupported = 'webcrypto' | 'ed25519'

/** Ends a verification. */
export class VerificationFailed extends Error {
  override readonly name = 'VerificationFailed'
  readonly failure: Failure
  constructor(failure: Failure) {
    super(failure.reason)
    this.failure = failure
  }
}

/** Ends a verification that the server, the network or the caller interrupted. */
export class VerificationUnavailable extends Error {
  override readonly name = 'VerificationUnavailable'
  readonly unavailable: Unavailable
  constructor(unavailable: Unavailable) {
    super(unavailable.reason)
    this.unavailable = unavailable
  }
}

export const malformed = (part: Part, detail: string): VerificationFailed =>
  new VerificationFailed({ reason: 'malformed', part, detail })
