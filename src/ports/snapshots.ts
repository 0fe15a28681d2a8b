/** A folded state at a revision: saves a cold read of a long stream. May be lost at any time. */
export type Snapshot = { revision: number; version: number; state: unknown }

export type Snapshots = {
  get(stream: string): Promise<Snapshot | undefined>
  put(stream: string, snapshot: Snapshot): Promise<void>
}
