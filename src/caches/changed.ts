import type { DocumentChange } from '../ports/views.ts'

/** Documents of a read model that have changed; `anew`: any of them may have. */
export type Changed = { view: string; changes: readonly DocumentChange[]; anew?: boolean }

/** How long an entry lasts where this process alone projects and sees every change. */
export const ownTtlMs = 60_000
