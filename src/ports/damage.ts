import type { Position } from '../domain/event.ts'

/**
 * What was found in a store that is not what was written: where, and, in the log of events, which
 * positions cannot be read.
 */
export type Damage = {
  store: 'events' | 'read_models'
  what: string
  /** The first and the last position, as far as they are known. */
  from?: Position
  to?: Position
}
