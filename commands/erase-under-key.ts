import {
  despiteUnreadable,
  type EventOf,
  type EventTable,
  type Stream,
} from '../src/domain/aggregate.ts'
import type { Destroyed, Erasure, KeyUse } from '../src/domain/erasure.ts'
import type { Streams } from '../src/event-sourcing/transactor.ts'
import type { Call } from '../src/ports/call.ts'
import type { DestroyKey } from '../src/security/destroy-key.ts'

type Sealed<State, Table extends EventTable, Event> = {
  /** Whom the texts are about. */
  userId: string
  stream: Stream<State, Table>
  keyOf(generation: number): string
  /** Default: always. */
  mayErase?(state: State): boolean
  decide(destroyed: Destroyed): (state: State) => Event[]
}

/**
 * Erases what a stream has sealed under a data key. The key goes first: a crash in between leaves
 * texts that nobody can read, which are erased when asked for again.
 */
export const eraseUnderKey =
  ({ load, transact, destroyKey }: Streams & { destroyKey: DestroyKey }) =>
  async <
    State extends { key: KeyUse },
    Table extends EventTable,
    Event extends EventOf<Table> & { data: Erasure },
  >(
    { userId, stream, keyOf, mayErase = () => true, decide }: Sealed<State, Table, Event>,
    call: Call,
  ) => {
    const tolerant = despiteUnreadable(stream)
    const { state, position } = await load(tolerant)
    const { inUse, generation } = state.key
    if (!inUse || !mayErase(state)) return { erased: undefined, position }
    const destroyed = await destroyKey(keyOf(generation), { generation, userId }, call)
    const done = await transact(tolerant, decide(destroyed), call)
    return { erased: done.events[0]?.data, position: done.position }
  }
