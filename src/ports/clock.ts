/** Time and chance come from outside, so that tests can fix them. */
export type Clock = {
  now(): Date
  /** A new UUIDv7. */
  id(): string
}
