import { randomUUID } from 'node:crypto'
import { type EventEmitter, once } from 'node:events'
import type { ReadReq, ReadResp } from '@eventstore/db-client/generated/streams_pb.js'
import streams from '@eventstore/db-client/generated/streams_pb.js'
import { type ServerWritableStream, status } from '@grpc/grpc-js'
import { filterOf } from './filters.ts'
import type { EventLog, Stored } from './log.ts'
import {
  caughtUpMessage,
  checkpointMessage,
  confirmationMessage,
  eventMessage,
  notFoundMessage,
} from './messages.ts'

export type ReadCall = ServerWritableStream<ReadReq, ReadResp>

type Write = (message: ReadResp) => Promise<unknown>

/** One Read call: the position in $all that it began at, if any, and what was sent so far. */
export type ReadSeen = {
  kind: 'subscription' | 'stream' | 'all'
  from: number | undefined
  events: number
  checkpoints: number
}

const { FORWARDS } = streams.ReadReq.Options.ReadDirection

const unknown = (details: string) =>
  Object.assign(new Error(details), { code: status.UNKNOWN, details })

const nameOf = (options: ReadReq.Options.StreamOptions) =>
  Buffer.from(options.getStreamIdentifier()?.getStreamName_asU8() ?? []).toString()

/** The events from one place on, up to an end or down to the first. */
function* along(events: readonly Stored[], from: number, forwards: boolean) {
  const end = forwards ? events.length : -1
  for (let n = from; n !== end; n += forwards ? 1 : -1) {
    const stored = events[n]
    if (stored) yield stored
  }
}

/** One Read call: of a stream or of $all, forwards or backwards, once or as a subscription. */
export const reader = (log: EventLog, committed: EventEmitter) => {
  const isEvent = (position: bigint) => log.all[log.indexOf(position)]?.position === position
  let refusing = false

  const readStream = async (
    options: ReadReq.Options,
    of: ReadReq.Options.StreamOptions,
    write: Write,
  ) => {
    const name = nameOf(of)
    const events = log.stream(name)
    if (!events) return write(notFoundMessage(name))
    const forwards = options.getReadDirection() === FORWARDS
    const revision = Number(of.getRevision())
    const first = of.hasStart() ? 0 : revision
    const last = of.hasEnd() ? events.length - 1 : Math.min(revision, events.length - 1)
    let left = Number(options.getCount())
    if (forwards && first >= events.length) return
    for (const stored of along(events, forwards ? first : last, forwards)) {
      if (left-- <= 0) return
      await write(eventMessage(stored))
    }
  }

  const readAll = async (options: ReadReq.Options, write: Write) => {
    const from = options.getAll()
    const forwards = options.getReadDirection() === FORWARDS
    const position = BigInt(from?.getPosition()?.getCommitPosition() ?? 0)
    const given = from?.hasPosition() ?? false
    const pastEnd = position > (log.all.at(-1)?.position ?? -1n)
    if (given && !pastEnd && !isEvent(position)) throw unknown('Unexpected ReadAllResult: Error')
    const first = given ? log.indexOf(position) : 0
    const last = given ? log.indexOf(position) - 1 : log.all.length - 1
    let left = Number(options.getCount())
    if (forwards && first >= log.all.length) return
    for (const stored of along(log.all, forwards ? first : last, forwards)) {
      if (left-- <= 0) return
      await write(eventMessage(stored))
    }
  }

  const subscribe = async (options: ReadReq.Options, write: Write, signal: AbortSignal) => {
    const { wanted, checkpointEvery } = filterOf(options)
    const from = options.getAll()
    const after = BigInt(from?.getPosition()?.getCommitPosition() ?? -1)
    if (from?.hasPosition() && !isEvent(after)) throw unknown('Exception was thrown by handler.')
    const firstEvent = from?.hasPosition() ? log.all[log.indexOf(after)] : undefined
    if (refusing && firstEvent && !wanted(firstEvent))
      throw unknown('Exception was thrown by handler.')
    let next = from?.hasEnd() ? log.all.length : log.indexOf(after + 1n)
    let looked = 0
    await write(confirmationMessage(randomUUID()))
    for (;;) {
      for (let stored = log.all[next]; stored; stored = log.all[++next]) {
        if (wanted(stored)) await write(eventMessage(stored))
        if (++looked % checkpointEvery === 0) await write(checkpointMessage(stored.position))
      }
      await write(caughtUpMessage())
      if (next === log.all.length) await once(committed, 'committed', { signal })
    }
  }

  const reads: ReadSeen[] = []

  const seen = (options: ReadReq.Options): ReadSeen => {
    const position = options.getAll()?.getPosition()?.getCommitPosition()
    const kind = options.hasStream() ? 'stream' : 'all'
    return {
      kind: options.hasSubscription() ? 'subscription' : kind,
      from: position === undefined ? undefined : Number(position),
      events: 0,
      checkpoints: 0,
    }
  }

  const answer = async (call: ReadCall, signal: AbortSignal): Promise<void> => {
    const options = call.request.getOptions()
    if (!options) return
    const read = seen(options)
    reads.push(read)
    const write = async (message: ReadResp) => {
      signal.throwIfAborted()
      if (message.hasEvent()) read.events++
      if (message.hasCheckpoint()) read.checkpoints++
      if (!call.write(message)) await once(call, 'drain', { signal })
    }
    const stream = options.getStream()
    if (options.hasSubscription()) await subscribe(options, write, signal)
    else if (stream) await readStream(options, stream, write)
    else await readAll(options, write)
  }

  return {
    answer,
    reads: reads as readonly ReadSeen[],
    /** From now on subscriptions go on only from events that they have handed over. */
    refuseCheckpoints: () => {
      refusing = true
    },
  }
}
