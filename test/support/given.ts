import type { Test } from 'tap'
import type { Projection } from '../../projections/projection.ts'
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

/** An event where it matters: in another stream, or at another time. */
type Given<Table extends EventTable> = EventOf<Table> & { stream?: string; at?: string }

/**
 * seen(...events).shows(view, id?) | .showsNothing(id?), for the events of one batch. Without an
 * id there must be exactly one document, or none at all.
 */
export const projecting =
  <View extends Document, Table extends EventTable>(
    t: Test,
    projection: Projection<View, Table>,
    stream: string,
  ) =>
  (...events: Given<Table>[]) => {
    const batch = recorded(
      events.map(({ at = metadata.at, ...event }) => ({
        stream,
        ...event,
        metadata: { ...metadata, at },
      })),
    )
    const [todo] = batchRouter([projection])(batch, [{ projection, position: START }])
    const { changes, error } = folded(projection, todo?.steps ?? [], new Map())
    t.notOk(todo?.error ?? error, 'every event can be folded')
    const views = new Map(changes.map(({ id, document }) => [id, document]))
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
