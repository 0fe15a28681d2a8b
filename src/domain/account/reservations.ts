import { largestAmount, saturate } from '../amounts.ts'

/** Up to so many open runs are in one list. */
const few = 64
/** How many parts there are of more. */
const parts = 256

/** In micro-credits. */
type Held = readonly [runId: string, amount: number]
type Part = Readonly<Record<string, number>>

/**
 * What open runs hold back (`held` in all, at most the largest amount): in a list while they are
 * few, else in parts by run id. So a change copies what is open, and one part of it where thousands
 * of runs wait.
 */
export type Reservations =
  | { held: number; few: readonly Held[] }
  | { held: number; parts: Readonly<Record<string, Part>> }

/**
 * A copy without a prototype: V8 keeps it as a table. In a plain object each new run id would make
 * a hidden class, at ten times the cost.
 */
const copied = (part: Part = {}): Record<string, number> => Object.assign(Object.create(null), part)

const isEmpty = (record: object): boolean => {
  for (const _ in record) return false
  return true
}

export const noReservations: Reservations = { held: 0, few: [] }

/** Whether no run holds anything back. */
export const isNone = (reservations: Reservations): boolean =>
  'few' in reservations ? reservations.few.length === 0 : isEmpty(reservations.parts)

const partOf = (runId: string): number => {
  let sum = 0
  for (let n = 0; n < runId.length; n++) sum = (sum * 31 + runId.charCodeAt(n)) % 65_521
  return sum % parts
}

/** What is held back for a run; undefined where nothing is. */
export const heldFor = (reservations: Reservations, runId: string): number | undefined => {
  if ('few' in reservations) return reservations.few.find(([id]) => id === runId)?.[1]
  const part = reservations.parts[partOf(runId)]
  return part && Object.hasOwn(part, runId) ? part[runId] : undefined
}

/** The ids of the runs that hold something back. */
export const openRuns = (reservations: Reservations): string[] =>
  'few' in reservations
    ? reservations.few.map(([runId]) => runId)
    : Object.values(reservations.parts).flatMap(Object.keys)

const without = (part: Part | undefined, runId: string): Part => {
  const rest = copied(part)
  delete rest[runId]
  return rest
}

const sumOf = (amounts: readonly number[]): number =>
  amounts.reduce((sum, amount) => saturate(sum + amount), 0)

/** Held amount after a release; a sum that was cut is recounted. */
const heldAfter = (held: number, amount: number, rest: () => readonly number[]): number =>
  held < largestAmount ? held - amount : sumOf(rest())

/** Closes the reservation of a run, if it has one. */
export const released = (reservations: Reservations, runId: string): Reservations => {
  const amount = heldFor(reservations, runId)
  if (amount === undefined) return reservations
  if ('few' in reservations) {
    const few = reservations.few.filter(([id]) => id !== runId)
    if (few.length === 0) return noReservations
    return { held: heldAfter(reservations.held, amount, () => few.map(([, one]) => one)), few }
  }
  const place = partOf(runId)
  const { [place]: before, ...others } = reservations.parts
  const part = without(before, runId)
  const parts = isEmpty(part) ? others : { ...others, [place]: part }
  if (isEmpty(parts)) return noReservations
  const amounts = () => Object.values(parts).flatMap((one) => Object.values(one))
  return { held: heldAfter(reservations.held, amount, amounts), parts }
}

const inParts = (all: readonly Held[]): Record<number, Part> => {
  const found: Record<number, Record<string, number>> = {}
  for (const [runId, amount] of all) {
    const place = partOf(runId)
    const part = found[place] ?? copied()
    part[runId] = amount
    found[place] = part
  }
  return found
}

/** Holds an amount back for a run, in place of what was held for it. */
export const reserved = (from: Reservations, runId: string, amount: number): Reservations => {
  const open = released(from, runId)
  const before = isNone(open) ? noReservations : open
  const held = saturate(before.held + amount)
  if ('few' in before) {
    const all: Held[] = [...before.few, [runId, amount]]
    return all.length > few ? { held, parts: inParts(all) } : { held, few: all }
  }
  const place = partOf(runId)
  const part = copied(before.parts[place])
  part[runId] = amount
  return { held, parts: { ...before.parts, [place]: part } }
}
