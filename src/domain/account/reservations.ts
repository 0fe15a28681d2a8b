import {
  emptyMap,
  isEmptyMap,
  keysOf,
  type PersistentMap,
  valueIn,
  valuesOf,
  withEntry,
  withoutKey,
} from '../../support/persistent-map.ts'
import { largestAmount, saturate } from '../amounts.ts'

/** Micro-credits that open runs reserve, by run id; `held`: their sum, at most the largest one. */
export type Reservations = { held: number } & PersistentMap<number>

export const noReservations: Reservations = { held: 0, ...emptyMap }

/** Whether no run holds anything back. */
export const isNone: (reservations: Reservations) => boolean = isEmptyMap

/** Micro-credits that are held back for a run; undefined where none are. */
export const heldFor: (reservations: Reservations, runId: string) => number | undefined = valueIn

/** The ids of the runs that hold something back. */
export const openRuns: (reservations: Reservations) => string[] = keysOf

const sumOf = (sum: number, amount: number): number => saturate(sum + amount)

/** Closes the reservation of a run, if it has one. */
export const released = (reservations: Reservations, runId: string): Reservations => {
  const { held } = reservations
  const amount = heldFor(reservations, runId)
  if (amount === undefined) return reservations
  const rest = withoutKey(reservations, runId)
  if (isEmptyMap(rest)) return noReservations
  // A sum that was cut is recounted.
  if (held === largestAmount) return { held: valuesOf(rest).reduce(sumOf, 0), ...rest }
  return { held: held - amount, ...rest }
}

/** Holds an amount back for a run, in place of what was held for it. */
export const reserved = (from: Reservations, runId: string, amount: number): Reservations => {
  const open = released(from, runId)
  return { held: saturate(open.held + amount), ...withEntry(open, runId, amount) }
}
