/** A named right that one holder has at a time: projecting, or being alive as a node. */
export type Leases = {
  /** Takes or renews; false when another holder's lease has not run out. */
  acquire(name: string, holder: string, ttlMs: number): Promise<boolean>
  release(name: string, holder: string): Promise<void>
  /** The present holder, if its lease has not run out. */
  holder(name: string): Promise<string | undefined>
}
