import type { z } from 'zod'

/** Event name to schema. Types, codec and handler tables are all read off this one table. */
export type EventTable = Record<string, z.ZodType>

/** The events of a table, as a union discriminated by `type`. */
export type EventOf<Table extends EventTable, Type extends keyof Table = keyof Table> = {
  [T in Type & string]: { type: T; data: z.infer<Table[T]> }
}[Type & string]

/**
 * What a decision is made on: how a stream's events fold into a state. `evolve` has one handler
 * per event of the table and no default, so that the compiler finds a forgotten event.
 */
export type Aggregate<State, Table extends EventTable> = {
  /** First part of the stream name, stored for good: it may differ from the noun's folder. */
  category: string
  events: Table
  initial: State
  evolve: { [T in keyof Table]: (state: State, data: z.infer<Table[T]>) => State }
  /** Roughly how large a state is, in characters, where that is more than a few hundred. */
  weigh?: (state: State) => number
  /** Raised when `State` changes its shape, so that older snapshots are not read. */
  stateVersion?: number
}

/** The stream of one aggregate: its name carries identity, and organization where it has one. */
export type Stream<State, Table extends EventTable> = {
  aggregate: Aggregate<State, Table>
  name: string
  /**
   * Its id was made just now: it is taken to be empty, and read only if the store says otherwise.
   */
  isNew?: boolean
  /** Allows decisions despite unreadable events, as for an erasure. */
  despiteUnreadable?: boolean
}

/** The same stream for decisions that must not be refused because an event of it is unreadable. */
export const despiteUnreadable = <State, Table extends EventTable>(
  stream: Stream<State, Table>,
): Stream<State, Table> => ({ ...stream, despiteUnreadable: true })

/** A stream inside one organization: `<category>-<organization id>_<id>`. */
export const streamOf = <State, Table extends EventTable>(
  aggregate: Aggregate<State, Table>,
  organizationId: string,
  id: string,
  isNew = false,
): Stream<State, Table> => ({
  aggregate,
  name: `${aggregate.category}-${organizationId}_${id}`,
  isNew,
})

/** A stream of the platform itself (users, their credit accounts): `<category>-<id>`. */
export const platformStreamOf = <State, Table extends EventTable>(
  aggregate: Aggregate<State, Table>,
  id: string,
): Stream<State, Table> => ({ aggregate, name: `${aggregate.category}-${id}` })

export const evolved = <State, Table extends EventTable>(
  { evolve }: Aggregate<State, Table>,
  initial: State,
  events: readonly EventOf<Table>[],
): State => {
  let state = initial
  for (const { type, data } of events) state = evolve[type](state, data)
  return state
}
