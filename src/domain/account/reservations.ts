/** Up to so many open runs are in one list. */
const few = 64
/** How many parts there are of more. */
const parts = 256

/** In micro-credits. */
type Held = readonly [runId: string, amount: number]
type Part = Readonly<Record<string, number>>

/**
 * What open runs hold back: in a list while they are few, else in parts by run id. So a change copies what is open, and
 * one part of it where thousands of runs wait.
 */
export type Reservations =
  | { held: number; few: readonly Held[] }
  | { held: number; parts: Readonly<Record<string, Part>> }

/**
 * A copy without a prototype: V8 keeps it as a table. In a plain object each new run id would make a hidden class, at ten
 * times the cost.
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

/** Closes the reservation of a run, if it has one. */
export const released = (reservations: Reservations, runId: string): Reservations => {
  const amount = heldFor(reservations, runId)
  if (amount === undefined) return reservations
  const held = reservations.held - amount
  if ('few' in reservations) {
    const rest = reservations.few.filter(([id]) => id !== runId)
    return rest.length === 0 ? noReservations : { held, few: rest }
  }
  const place = partOf(runId)
  const part = without(reservations.parts[place], runId)
  if (!isEmpty(part)) return { held, parts: { ...reservations.parts, [place]: part } }
  const { [place]: _, ...rest } = reservations.parts
  return isEmpty(rest) ? noReservations : { held, parts: rest }
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
  const held = before.held + amount
  if ('few' in before) {
    const all: Held[] = [...before.few, [runId, amount]]
    return all.length > few ? { held, parts: inParts(all) } : { held, few: all }
  }
  const place = partOf(runId)
  const part = copied(before.parts[place])
  part[runId] = amount
  return { held, parts: { ...before.parts, [place]: part } }
}
