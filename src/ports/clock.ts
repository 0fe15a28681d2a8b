/** Time and chance come from outside, so that tests can fix them. */
export type Clock = {
  /**
   * Wall time: for what is stored, shown, or compared across processes. May step back and forth.
   */
  now(): Date
  /** Milliseconds since some moment: never goes back. Compares within this process only. */
  monotonic(): number
  /** A new UUIDv7. */
  id(): string
}
