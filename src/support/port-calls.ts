import { fairQueue } from './fair-queue.ts'

/** One end of a channel to another thread. */
export type CallPort = {
  postMessage(message: unknown, transfer?: readonly ArrayBuffer[]): void
  on(listener: (message: unknown) => void): void
}

/** Parts that are made when they are asked for, and what is known before the first of them. */
export type Parts = { head: unknown; parts: AsyncIterable<unknown> }

type Call = { argument: never }
type Answerer = (argument: Call['argument']) => Promise<unknown>
type Streamer = (argument: Call['argument']) => Promise<Parts>

/** The calls that one end answers. Each takes one plain value. */
export type Served = {
  /** Answered at once. */
  notes: Readonly<Record<string, Answerer>>
  /** Answered in turns of their owners. */
  answers: Readonly<Record<string, Answerer>>
  streams: Readonly<Record<string, Streamer>>
}

type Ask = { ask: number; kind: keyof Served; name: string; argument: unknown }

type ToServer = Ask | { more: number } | { end: number }

type ToClient =
  | { answer: number; value: unknown }
  | { part: number; value: unknown }
  | { over: number }
  | { failed: number; error: unknown }

type Serving = Served & {
  port: CallPort
  /** How many are worked on at once. */
  places: number
  /** How many streams are open at once. */
  mostStreams: number
  ownerOf(argument: unknown): string
  /** An error as a plain value. */
  packed(error: unknown): unknown
  /** Of a call beyond what may be open. */
  tooMany(): Error
}

/** Text goes as bytes, which are handed over and not copied. */
const sendable = (value: unknown): { value: unknown; transfer?: ArrayBuffer[] } => {
  if (typeof value !== 'string') return { value }
  const bytes = new TextEncoder().encode(value)
  return { value: bytes, transfer: [bytes.buffer] }
}

/**
 * Answers calls over a port. Owners take turns at every answer and at every part of a stream: a
 * stream that is not read holds no place, and one owner's long reads do not keep others waiting.
 */
export const serveCalls = (serving: Serving): void => {
  const { port, places, mostStreams, ownerOf, packed, tooMany } = serving
  type Work = () => Promise<void>
  type Open = {
    owner: string
    iterator: AsyncIterator<unknown>
    ended: boolean
    last: Promise<void>
  }
  const queue = fairQueue<Work>(places)
  const open = new Map<number, Open>()

  const send = (message: ToClient, transfer: readonly ArrayBuffer[] = []) =>
    port.postMessage(message, transfer)

  const guarded = async (id: number, work: Work): Promise<void> => {
    try {
      await work()
    } catch (error) {
      open.delete(id)
      send({ failed: id, error: packed(error) })
    }
  }

  const pump = (): void => {
    for (let entered = queue.next(); entered; entered = queue.next()) {
      const { item, leave } = entered
      void item().finally(() => {
        leave()
        pump()
      })
    }
  }

  const inTurn = (owner: string, work: Work): Promise<void> =>
    new Promise((done) => {
      queue.add(owner, () => work().finally(done))
      pump()
    })

  const serve = async ({ ask: id, kind, name, argument }: Ask) => {
    const work = serving[kind][name]
    if (!work) throw new TypeError(`nothing is called ${name}`)
    if (kind !== 'streams') return send({ answer: id, value: await work(argument as never) })
    if (open.size >= mostStreams) throw tooMany()
    const { head, parts } = (await work(argument as never)) as Parts
    const iterator = parts[Symbol.asyncIterator]()
    open.set(id, { owner: ownerOf(argument), iterator, ended: false, last: Promise.resolve() })
    send({ answer: id, value: head })
  }

  const step = (id: number, stream: Open) => async () => {
    if (stream.ended) return
    const { done, value } = await stream.iterator.next()
    if (done) {
      open.delete(id)
      return send({ over: id })
    }
    const sent = sendable(value)
    send({ part: id, value: sent.value }, sent.transfer)
  }

  port.on((received) => {
    const message = received as ToServer
    if ('ask' in message) {
      const work = () => guarded(message.ask, () => serve(message))
      void (message.kind === 'notes' ? work() : inTurn(ownerOf(message.argument), work))
      return
    }
    const id = 'more' in message ? message.more : message.end
    const stream = open.get(id)
    if (!stream) return
    if ('more' in message) {
      stream.last = inTurn(stream.owner, () => guarded(id, step(id, stream)))
      return
    }
    stream.ended = true
    open.delete(id)
    void stream.last.then(() => stream.iterator.return?.()).catch(() => undefined)
  })
}

type Waiting = { resolve(value: unknown): void; reject(error: unknown): void }

/** The asking end. `unpacked` makes an error of what the other end has made of one. */
export const callsOver = (
  port: Pick<CallPort, 'postMessage'>,
  unpacked: (error: unknown) => unknown,
) => {
  const waiting = new Map<number, Waiting>()
  let next = 0
  let lost: Error | undefined

  const post = (message: ToServer) => port.postMessage(message)

  const expected = (id: number, message: ToServer): Promise<unknown> =>
    new Promise((resolve, reject) => {
      if (lost) return reject(lost)
      waiting.set(id, { resolve, reject })
      post(message)
    })

  const settle = (id: number): Waiting | undefined => {
    const call = waiting.get(id)
    waiting.delete(id)
    return call
  }

  const ask = (kind: keyof Served, name: string, argument: unknown): [number, Promise<unknown>] => {
    const id = next++
    return [id, expected(id, { ask: id, kind, name, argument })]
  }

  /** As long as the parts are asked for, one at a time; `return` ends them at the other end too. */
  const partsOf = (id: number): AsyncIterableIterator<unknown> => {
    let over = false
    const parts: AsyncIterableIterator<unknown> = {
      async next() {
        if (over) return { done: true, value: undefined }
        try {
          const part = (await expected(id, { more: id })) as { value: unknown } | undefined
          if (part) return { done: false, value: part.value }
        } catch (error) {
          over = true
          throw error
        }
        over = true
        return { done: true, value: undefined }
      },
      async return() {
        if (!over && !lost) post({ end: id })
        over = true
        settle(id)?.resolve(undefined)
        return { done: true, value: undefined }
      },
      [Symbol.asyncIterator]: () => parts,
    }
    return parts
  }

  return {
    /** Takes a message of the other end; false where it is none of a call. */
    take(message: unknown): boolean {
      if (typeof message !== 'object' || message === null) return false
      const reply = message as ToClient
      if ('answer' in reply) settle(reply.answer)?.resolve(reply.value)
      else if ('part' in reply) settle(reply.part)?.resolve({ value: reply.value })
      else if ('over' in reply) settle(reply.over)?.resolve(undefined)
      else if ('failed' in reply) settle(reply.failed)?.reject(unpacked(reply.error))
      else return false
      return true
    },
    note: (name: string, argument: unknown): Promise<unknown> => ask('notes', name, argument)[1],
    answer: (name: string, argument: unknown): Promise<unknown> =>
      ask('answers', name, argument)[1],
    async stream(name: string, argument: unknown): Promise<Parts> {
      const [id, head] = ask('streams', name, argument)
      return { head: await head, parts: partsOf(id) }
    },
    /** The other end is gone: whatever is waited for fails, now and later. */
    fail(error: Error): void {
      lost = error
      for (const { reject } of [...waiting.values()]) reject(error)
      waiting.clear()
    },
  }
}

export type Calls = ReturnType<typeof callsOver>
