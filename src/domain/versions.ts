/** How data of one older schema version becomes data of the next. */
type Upcaster = (data: unknown) => unknown

/** `from[n]` lifts version n to n + 1; every version below `current` has one. */
export type Versions = Readonly<
  Record<string, { current: number; from: Readonly<Record<number, Upcaster>> }>
>

/**
 * Event types whose schema was changed in a way that stored data does not fit; all others are at
 * version 1. An optional field more is no such change.
 */
export const versions: Versions = {}

/** The version that an event of this type is written with. */
export const schemaVersionOf = (type: string, table = versions): number => table[type]?.current ?? 1

/** Data as the current version has it. */
export const upcast = (type: string, version: number, data: unknown, table = versions): unknown => {
  let lifted = data
  for (let n = version; n < schemaVersionOf(type, table); n++)
    lifted = table[type]?.from[n]?.(lifted)
  return lifted
}
