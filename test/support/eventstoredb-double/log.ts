import { randomUUID } from 'node:crypto'

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

/** The default of a real server. */
export const maxAppendSize = 1_048_576

const sizeOf = ({ type, data, metadata }: Proposed) =>
  2 * type.length + data.length + metadata.length

const systemEvent = (type: string): Proposed => ({
  id: randomUUID(),
  type,
  contentType: 'application/json',
  data: Buffer.from('{}'),
  metadata: new Uint8Array(),
})

/**
 * What a server of version 23.10 has stored and what it says to an append (facts, EventStoreDB).
 * Positions are byte offsets; now and then the server writes an event of its own.
 */
export const eventLog = () => {
  const all: Stored[] = []
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
      all.push(stored)
      known.set(`${stream} ${event.id}`, stored)
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
      const { revision, position } = earlier.last
      return { kind: 'appended', revision, position }
    }
    const missing = expected === 'stream_exists' && current === -1
    const ahead = typeof expected === 'number' && expected > current
    if (earlier.taken || missing || ahead) return { kind: 'conflict', current }
    store(stream, events)
    const { revision, position } = streams.get(stream)?.at(-1) ?? { revision: 0, position: end }
    if (++appends % 3 === 0) store(`$$${stream}`, [systemEvent('$metadata')])
    if (appends % 50 === 0)
      store('$stats-127.0.0.1:2113', Array(40).fill(systemEvent('$statsCollected')))
    return { kind: 'appended', revision, position }
  }

  store('$users', [systemEvent('$User')])
  return { all: all as readonly Stored[], append, stream: (name: string) => streams.get(name) }
}
