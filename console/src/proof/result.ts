import type { Failure, Unavailable, Unsupported } from './failure.ts'

/** Where the key comes from: the caller, an earlier visit, or the server on this visit. */
export type KeySource = 'given' | 'remembered' | 'served'

/** How the history compares with the checkpoint of an earlier visit. */
export type EarlierVisit =
  | { kind: 'none'; reason: 'first_visit' | 'unreadable' | 'no_storage' }
  /** The first `size` events are those of the earlier visit. */
  | { kind: 'compared'; size: number; at: string }

export type VerifiedLog = {
  origin: string
  /** The number of events that are signed, and the root over them in base64. */
  size: number
  root: string
  key: string
  keySource: KeySource
  earlier: EarlierVisit
  /** Whether the browser stored this checkpoint for the next visit. */
  isRemembered: boolean
}

export type VerifiedEvent = {
  /** Counted from 0 in the organization's history. */
  index: number
  /** In base64. */
  leafHash: string
  /** The fields that the log stores encrypted: `data.text`. */
  encrypted: readonly string[]
}

export type NotVerified =
  | { kind: 'failed'; failure: Failure }
  | { kind: 'unavailable'; unavailable: Unavailable }
  | { kind: 'unsupported'; missing: Unsupported }

export type LogResult = { kind: 'verified'; log: VerifiedLog } | NotVerified

export type EventResult = { kind: 'verified'; log: VerifiedLog; event: VerifiedEvent } | NotVerified
