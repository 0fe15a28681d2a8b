/**
 * A run whose answer has not been delivered. Only an identical request claims it
 * (docs/contract/requests.md#retries-without-an-idempotency-key).
 */
export type UndeliveredRun = {
  runId: string
  sessionId: string
  messageId: string
  /** An HMAC, the same for identical requests. */
  fingerprint: string
  /** When the first request came, in milliseconds since 1970. */
  at: number
  /** Answered before the run ends: streamed, or in the background. */
  early: boolean
}

/** A request whose client waits for the answer; `node` names its process's life. */
export type Holder = { node: string; request: number }

/** `heldByOthers`: runs of identical requests, if there is none to claim. */
export type RunClaim =
  | { run: UndeliveredRun }
  | { heldByOthers: readonly { runId: string; node: string }[] }

/** How long after its first request a run can be claimed. */
export const claimableMs = 600_000

/** How many runs of identical requests are looked at. */
export const mostIdentical = 20

/** The runs whose answers have not been delivered, each held by at most one request. */
export type UndeliveredRuns = {
  /** Holds a run that has begun. */
  add(run: UndeliveredRun, holder: Holder): Promise<void>
  /** Holds the oldest run with this fingerprint that no request holds. */
  claim(fingerprint: string, holder: Holder, now: Date): Promise<RunClaim>
  /** The holder got no answer. No effect if another request holds the run by now. */
  release(runId: string, holder: Holder): Promise<void>
  /** The answer was delivered to the holder. No effect if another request holds the run by now. */
  remove(runId: string, holder: Holder): Promise<void>
  /**
   * The process `node` died before the run ended: releases the run, or removes it if answered
   * early.
   */
  abandon(runId: string, node: string): Promise<void>
  /** Removes runs that can no longer be claimed; returns their number. */
  sweep(now: Date): Promise<number>
}
