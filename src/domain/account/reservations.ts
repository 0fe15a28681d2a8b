/** How many parts there are. */
const parts = 256

type Part = Readonly<Record<string, number>>

/**
 * What open runs hold back, by run id, in micro-credits. A change copies one part of it, so that it costs
 * the same where thousands of runs wait.
 */
export type Reservations = { held: number; parts: Readonly<Record<string, Part>> }

export const noReservations: Reservations = { held: 0, parts: {} }

const partOf = (runId: string): number => {
  let sum = 0
  for (let n = 0; n < runId.length; n++) sum = (sum * 31 + runId.charCodeAt(n)) % 65_521
  return sum % parts
}

/** What is held back for a run; undefined where nothing is. */
export const heldFor = ({ parts }: Reservations, runId: string): number | undefined => {
  const part = parts[partOf(runId)]
  return part && Object.hasOwn(part, runId) ? part[runId] : undefined
}

const without = <Value>(all: Readonly<Record<string, Value>>, key: string) => {
  const { [key]: _, ...rest } = all
  return rest
}

/** Closes the reservation of a run, if it has one. */
export const released = (reservations: Reservations, runId: string): Reservations => {
  const amount = heldFor(reservations, runId)
  if (amount === undefined) return reservations
  const place = partOf(runId)
  const part = without(reservations.parts[place] ?? {}, runId)
  const isEmpty = Object.keys(part).length === 0
  return {
    held: reservations.held - amount,
    parts: isEmpty
      ? without(reservations.parts, String(place))
      : { ...reservations.parts, [place]: part },
  }
}

/** Holds an amount back for a run, in place of what was held for it. */
export const reserved = (from: Reservations, runId: string, amount: number): Reservations => {
  const { held, parts } = released(from, runId)
  const place = partOf(runId)
  return {
    held: held + amount,
    parts: { ...parts, [place]: { ...parts[place], [runId]: amount } },
  }
}
