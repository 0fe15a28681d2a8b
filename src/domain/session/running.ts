/** The process that a run is run by, and in which attempt: no other appends to it. */
export type RunOwner = { node: string; attempt: number }

/**
 * The run under way, and whose it is. `base`: the attempt in which it last waited for somebody or was
 * handed over; 0 where it never was. `queued`: no process runs it yet, and its owner is who queued it.
 */
export type Running = RunOwner & { runId: string; payerId: string; base: number; queued?: true }

/** Whether a run is that process's in that attempt; without an owner, whoever runs it. */
export const isRunBy = (running: RunOwner, owner: RunOwner | undefined): boolean =>
  !owner || (running.node === owner.node && running.attempt === owner.attempt)

/** What a run costs that ends without an answer. */
export const uncharged = { promptTokens: 0, completionTokens: 0, charge: 0 }
