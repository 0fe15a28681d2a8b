/** How data of one older schema version becomes data of the next. */
type Upcaster = (data: unknown) => unknown

type Named = { model?: unknown }

/**
 * Version 1 stored the platform's default with an agent that named no model: where nothing was
 * configured, the offline one. Version 2 stores null, and the default is asked for when a turn
 * runs.
 */
const withoutDefaultModel: Upcaster = (data) => {
  const { model } = data as Named
  return model === 'offline/extractive' ? { ...(data as Named), model: null } : data
}

type Fields = Readonly<Record<string, unknown>>

const mostExact = Number.MAX_SAFE_INTEGER

const notNegative = (value: number): number => Math.max(0, value)
const exact = (value: number): number => Math.min(mostExact, Math.max(-mostExact, value))
const amount = (value: number): number => notNegative(exact(value))

/**
 * Repairs data that earlier releases stored outside of version 1: negative durations after the
 * clock was set back, and amounts beyond exact numbers. Returns other data unchanged.
 */
const repaired =
  (repairs: Readonly<Record<string, (value: number) => number>>): Upcaster =>
  (data) => {
    if (typeof data !== 'object' || data === null) return data
    const fields = data as Fields
    let lifted: Record<string, unknown> | undefined
    for (const name in repairs) {
      const value = fields[name]
      if (typeof value !== 'number') continue
      const fitting = repairs[name]?.(value)
      if (fitting === value) continue
      lifted ??= { ...fields }
      lifted[name] = fitting
    }
    return lifted ?? data
  }

const cost = { promptTokens: amount, completionTokens: amount, charge: amount }
const tokens = { promptTokens: amount, completionTokens: amount }

const repair = (repairs: Parameters<typeof repaired>[0]) =>
  ({ current: 2, from: { 1: repaired(repairs) }, repairs: true }) as const

/**
 * `from[n]` lifts version n to n + 1; every version below `current` has one. `repairs`: it changes
 * only what violates its own version, so a read model that was folded without it may be wrong.
 */
export type Versions = Readonly<
  Record<string, { current: number; from: Readonly<Record<number, Upcaster>>; repairs?: true }>
>

/**
 * Event types whose schema was changed in a way that stored data does not fit; all others are at
 * version 1. An optional field more is no such change.
 */
export const versions: Versions = {
  AgentCreated: { current: 2, from: { 1: withoutDefaultModel } },
  AgentChanged: { current: 2, from: { 1: withoutDefaultModel } },
  AgentCompleted: repair({ durationMs: notNegative, ...tokens }),
  ContentCompleted: repair({ charge: amount }),
  CreditsGranted: repair({ amount: exact }),
  CreditsReserved: repair({ amount }),
  CreditsSettled: repair({ amount }),
  ModelAnswered: repair(tokens),
  RunCancelled: repair(cost),
  RunCompleted: repair({ durationMs: notNegative, ...cost }),
  RunFailed: repair(cost),
  RunLimitReached: repair({ used: notNegative }),
  RunPaused: repair(cost),
  RunTimedOut: repair(cost),
  ToolCompleted: repair({ durationMs: notNegative }),
}

/** Changes whenever stored events are read differently. */
export const readingVersion = (table = versions): string =>
  Object.entries(table)
    .map(([type, { current }]) => `${type} ${current}`)
    .toSorted()
    .join(', ')

/** The version that an event of this type is written with. */
export const schemaVersionOf = (type: string, table = versions): number => table[type]?.current ?? 1

/** Data as the current version has it. */
export const upcast = (type: string, version: number, data: unknown, table = versions): unknown => {
  let lifted = data
  for (let n = version; n < schemaVersionOf(type, table); n++)
    lifted = table[type]?.from[n]?.(lifted)
  return lifted
}

/**
 * Whether data violates the version that it was stored with, and is read as something that fits.
 */
export const isRepaired = (
  type: string,
  version: number,
  data: unknown,
  table = versions,
): boolean =>
  table[type]?.repairs === true &&
  version < schemaVersionOf(type, table) &&
  upcast(type, version, data, table) !== data
