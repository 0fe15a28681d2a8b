import { Ajv2020 } from 'ajv/dist/2020.js'
import type { Test } from 'tap'
import { z } from 'zod'
import type {
  AnyProjection,
  EventProjection,
  LogProjection,
  Projection,
} from '../../projections/projection.ts'
import {
  type Aggregate,
  type EventOf,
  type EventTable,
  evolved,
} from '../../src/domain/aggregate.ts'
import { Refusal } from '../../src/domain/refusal.ts'
import type { RefusalCode } from '../../src/domain/refusal-words.ts'
import { START } from '../../src/ports/event-store.ts'
import type { Document } from '../../src/ports/views.ts'
import { folded } from '../../src/projector/fold.ts'
import { batchRouter } from '../../src/projector/router.ts'
import { formats } from './open-api.ts'
import { metadata, recorded } from './recorded.ts'

/** given(...history).when(decide).emits(...events) | .refuses(code) | .changesNothing() */
export const deciding =
  <State, Table extends EventTable>(t: Test, aggregate: Aggregate<State, Table>) =>
  (...history: EventOf<Table>[]) => ({
    when(decide: (state: State) => readonly EventOf<Table>[]) {
      const state = evolved(aggregate, aggregate.initial, history)
      return {
        emits(...expected: EventOf<Table>[]) {
          const decided = decide(state)
          t.strictSame(decided, expected)
          for (const { type, data } of decided)
            t.strictSame(aggregate.events[type]?.parse(data), data)
        },
        /** And deciding again on the result changes nothing: a resent command does no harm. */
        emitsOnce(...expected: EventOf<Table>[]) {
          this.emits(...expected)
          const after = evolved(aggregate, state, expected)
          try {
            t.strictSame(decide(after), [])
          } catch (error) {
            if (!(error instanceof Refusal)) throw error
          }
        },
        refuses: (code: RefusalCode) => t.throws(() => decide(state), { name: 'Refusal', code }),
        changesNothing: () => t.strictSame(decide(state), []),
      }
    },
  })

/** An event where it matters: in another stream, at another time or position. */
export type Given<Table extends EventTable> = EventOf<Table> & {
  stream?: string
  at?: string
  position?: number
}

/** The events of one stream as a log would hold them. */
export const recordedOn = <Table extends EventTable>(
  stream: string,
  events: readonly Given<Table>[],
) =>
  recorded(
    events.map(({ at = metadata.at, ...event }, n) => ({
      stream,
      ...event,
      position: event.position ?? n,
      metadata: { ...metadata, at },
    })),
  )

/** The event types that projections were given in this process. */
const seenBy = new Map<string, Set<string>>()

/** Strict, but for UUIDs: the ids of tests are short. */
const faultsOf = ({ schema }: AnyProjection) => {
  const override = ({ jsonSchema }: { jsonSchema: { format?: string; pattern?: string } }) => {
    if (jsonSchema.format !== 'uuid') return
    delete jsonSchema.format
    delete jsonSchema.pattern
  }
  const ajv = new Ajv2020({ strict: true, allowUnionTypes: true, formats })
  const fits = ajv.compile(z.toJSONSchema(schema, { override }))
  return (document: Document): string =>
    fits(JSON.parse(JSON.stringify(document))) ? '' : ajv.errorsText(fits.errors)
}

/**
 * seen(...events).shows(view, id?) | .showsNothing(id?), for the events of one batch. Without an
 * id there must be exactly one document, or none at all. Every document keeps the schema.
 */
export const projecting = <View extends Document, Table extends EventTable = EventTable>(
  t: Test,
  projection: Projection<View, Table> | LogProjection<View>,
  stream: string,
) => {
  const faults = faultsOf(projection)
  const types = seenBy.get(projection.name) ?? new Set()
  seenBy.set(projection.name, types)
  return (...events: Given<Table>[]) => {
    for (const { type } of events) types.add(type)
    const batch = recordedOn(stream, events)
    const [todo] = batchRouter([projection])(batch, [{ projection, position: START }])
    const { changes, error } = folded(projection, todo ?? { steps: [] }, new Map())
    t.notOk(todo?.error ?? error, 'every event can be folded')
    const views = new Map(changes.map(({ id, document }) => [id, document]))
    for (const document of views.values()) if (document) t.equal(faults(document), '')
    return {
      shows(expected: Partial<View>, id?: string) {
        if (id === undefined) t.equal(views.size, 1, 'one document')
        t.match(id === undefined ? [...views.values()][0] : views.get(id), expected)
      },
      showsNothing(id?: string) {
        t.strictSame(
          id === undefined ? [...views] : views.get(id),
          id === undefined ? [] : undefined,
        )
      },
    }
  }
}

/** At the end of a projection's tests: each event type that it handles was given. */
export const handlesAll = (
  t: Test,
  { name, creates, changes, removes = [], clears = {} }: EventProjection,
): void => {
  const handled = [creates, changes, clears].flatMap((handlers) => Object.keys(handlers))
  const seen = seenBy.get(name)
  t.strictSame(
    [...handled, ...removes].filter((type) => !seen?.has(type)),
    [],
    'each event type that it handles was given',
  )
}
