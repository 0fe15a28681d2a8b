/** How data of one older schema version becomes data of the next. */
type Upcaster = (data: unknown) => unknown

type Named = { model?: unknown }

/**
 * Version 1 stored the platform's default with an agent that named no model: where nothing was configured,
 * the offline one. Version 2 stores null, and the default is asked for when a turn runs.
 */
const withoutDefaultModel: Upcaster = (data) => {
  const { model } = data as Named
  return model === 'offline/extractive' ? { ...(data as Named), model: null } : data
}

/** `from[n]` lifts version n to n + 1; every version below `current` has one. */
export type Versions = Readonly<
  Record<string, { current: number; from: Readonly<Record<number, Upcaster>> }>
>

/**
 * Event types whose schema was changed in a way that stored data does not fit; all others are at
 * version 1. An optional field more is no such change.
 */
export const versions: Versions = {
  AgentCreated: { current: 2, from: { 1: withoutDefaultModel } },
  AgentChanged: { current: 2, from: { 1: withoutDefaultModel } },
}

/** The version that an event of this type is written with. */
export const schemaVersionOf = (type: string, table = versions): number => table[type]?.current ?? 1

/** Data as the current version has it. */
export const upcast = (type: string, version: number, data: unknown, table = versions): unknown => {
  let lifted = data
  for (let n = version; n < schemaVersionOf(type, table); n++)
    lifted = table[type]?.from[n]?.(lifted)
  return lifted
}
