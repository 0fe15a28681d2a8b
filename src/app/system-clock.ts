import type { Clock } from '../ports/clock.ts'
import { newId } from '../support/ids.ts'

/** The system's time, and new ids. */
export const systemClock: Clock = { now: () => new Date(), id: newId }
