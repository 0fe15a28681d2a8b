import { aside } from './neighbours.ts'

export type Proposed = {
  id: string
  type: string
  contentType: string
  data: Uint8Array
  metadata: Uint8Array
}

export type Stored = Proposed & { stream: string; revision: number; position: bigint }

export type Expected = 'any' | 'no_stream' | 'stream_exists' | number

export type Outcome =
  | { kind: 'appended'; revision: number; position: bigint }
  | { kind: 'conflict'; current: number }
  | { kind: 'too large' }
  /** The same ids are written and not committed yet: the server gives no answer. */
  | { kind: 'dropped' }

/** The default of a real server. */
export const maxAppendSize = 1_048_576

const sizeOf = ({ type, data, metadata }: Proposed) =>
  2 * type.length + data.length + metadata.length

/**
 * What a server of version 23.10 has stored and what it says to an append (facts, EventStoreDB).
 * Positions are byte offsets. An append is written first and seen by readers when it is committed.
 * With `neighbours`, other applications write to the same server.
 */
export const eventLog = (neighbours = true) => {
  const all: Stored[] = []
  const pending: Stored[] = []
  const streams = new Map<string, Stored[]>()
  const known = new Map<string, Stored>()
  let end = 4_211n
  let appends = 0

  const store = (stream: string, events: readonly Proposed[]): void => {
    const own = streams.get(stream) ?? []
    streams.set(stream, own)
    for (const event of events) {
      const stored = { ...event, stream, revision: own.length, position: end }
      end += BigInt(sizeOf(event) + 2 * stream.length + 96)
      own.push(stored)
      pending.push(stored)
      known.set(`${stream} ${event.id}`, stored)
    }
  }

  const isCommitted = ({ position }: Stored) => position <= (all.at(-1)?.position ?? -1n)

  /** Readers see all that is written. */
  const commit = (): void => {
    for (const stored of pending.splice(0)) all.push(stored)
  }

  /** What is written and not committed is gone, as after the loss of a leader. */
  const lose = (): void => {
    for (const { stream, id } of pending.splice(0)) {
      known.delete(`${stream} ${id}`)
      const committed = (streams.get(stream) ?? []).filter(isCommitted)
      if (committed.length > 0) streams.set(stream, committed)
      else streams.delete(stream)
    }
  }

  /** Where the first of these events is in its stream, if they were appended before. */
  const startOf = (own: readonly Stored[], expected: Expected, [event]: readonly Proposed[]) => {
    if (typeof expected === 'number') return expected + 1
    if (expected === 'no_stream') return 0
    return known.get(`${own[0]?.stream} ${event?.id}`)?.revision ?? own.length
  }

  /** What an earlier append of the same ids to the same place led to; taken: of other ids. */
  const before = (own: readonly Stored[], expected: Expected, events: readonly Proposed[]) => {
    const start = startOf(own, expected, events)
    const same = events.every(({ id }, n) => own[start + n]?.id === id)
    return { taken: start < own.length, last: same ? own[start + events.length - 1] : undefined }
  }

  const append = (stream: string, expected: Expected, events: readonly Proposed[]): Outcome => {
    if (events.reduce((sum, event) => sum + sizeOf(event), 0) > maxAppendSize)
      return { kind: 'too large' }
    if (events.length === 0) return { kind: 'appended', revision: 0, position: end }
    const own = streams.get(stream) ?? []
    const current = own.length - 1
    const earlier = before(own, expected, events)
    if (earlier.last) {
      if (expected !== 'any' && !isCommitted(earlier.last)) return { kind: 'dropped' }
      const { revision, position } = earlier.last
      return { kind: 'appended', revision, position }
    }
    const missing = expected === 'stream_exists' && current === -1
    const ahead = typeof expected === 'number' && expected > current
    if (earlier.taken || missing || ahead) return { kind: 'conflict', current }
    store(stream, events)
    const { revision, position } = streams.get(stream)?.at(-1) ?? { revision: 0, position: end }
    for (const other of aside(++appends, stream, events, neighbours))
      store(other.stream, other.events)
    return { kind: 'appended', revision, position }
  }

  /** The committed events of one stream; undefined when there are none. */
  const stream = (name: string): readonly Stored[] | undefined => {
    const own = streams.get(name) ?? []
    const seen = pending.length === 0 ? own : own.filter(isCommitted)
    return seen.length > 0 ? seen : undefined
  }

  /** The place in `all` of the first event at a position or after it. */
  const indexOf = (position: bigint): number => {
    let low = 0
    let high = all.length
    while (low < high) {
      const middle = (low + high) >> 1
      if ((all[middle]?.position ?? 0n) < position) low = middle + 1
      else high = middle
    }
    return low
  }

  for (const { stream, events } of aside(0, '', [], neighbours)) store(stream, events)
  commit()
  return { all: all as readonly Stored[], append, commit, lose, stream, indexOf }
}

export type EventLog = ReturnType<typeof eventLog>
