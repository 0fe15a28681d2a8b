/** How long an answer is stored, in milliseconds. */
export const answerLifetimeMs = 24 * 60 * 60 * 1000

/**
 * The first answer to a request with an idempotency key, kept 24 hours
 * (docs/contract/requests.md#idempotency-keys).
 */
export type StoredAnswer = { status: number; headers: Record<string, string>; body: string }

export type Claim =
  /** Ours to run; `takenOver`: an earlier claimant died before answering, and may have begun it. */
  | { state: 'claimed'; takenOver?: true }
  /** The first one still runs, here or on another node. */
  | { state: 'running' }
  | { state: 'answered'; answer: StoredAnswer }
  /** The key was used with another body. */
  | { state: 'reused' }

/** A durable store of first answers; bodies are sealed by the caller. */
export type Answers = {
  /** `holder` names this process's life, so that a claim of a dead one can be taken over. */
  claim(scope: string, fingerprint: string, holder: string, now: Date): Promise<Claim>
  /** Nothing where the claim is another's by now. */
  complete(scope: string, holder: string, answer: StoredAnswer, now: Date): Promise<void>
  /**
   * The request was refused or failed before it did anything: the key may be used again. Nothing
   * where the claim is another's by now.
   */
  release(scope: string, holder: string): Promise<void>
  /** Forgets what is older than 24 hours; answers how many. */
  sweep(now: Date): Promise<number>
}
