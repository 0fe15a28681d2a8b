import { randomUUID } from 'node:crypto'
import { type EventEmitter, once } from 'node:events'
import type { ReadReq, ReadResp } from '@eventstore/db-client/generated/streams_pb.js'
import streams from '@eventstore/db-client/generated/streams_pb.js'
import type { ServerWritableStream } from '@grpc/grpc-js'
import type { eventLog, Stored } from './log.ts'
import {
  caughtUpMessage,
  checkpointMessage,
  confirmationMessage,
  eventMessage,
  notFoundMessage,
} from './messages.ts'

export type ReadCall = ServerWritableStream<ReadReq, ReadResp>

const { FORWARDS } = streams.ReadReq.Options.ReadDirection

/** Messages between two checkpoints of a filtered subscription. */
const checkpointEvery = 32

const nameOf = (options: ReadReq.Options.StreamOptions) =>
  Buffer.from(options.getStreamIdentifier()?.getStreamName_asU8() ?? []).toString()

/** The filter by event type, which is the only one the double knows. */
const filterOf = (options: ReadReq.Options): ((stored: Stored) => boolean) => {
  const regex = options.getFilter()?.getEventType()?.getRegex()
  if (regex === undefined) return () => true
  const wanted = new RegExp(regex)
  return ({ type }) => wanted.test(type)
}

/** One Read call: of a stream or of $all, forwards or backwards, once or as a subscription. */
export const reader = (log: ReturnType<typeof eventLog>, appended: EventEmitter) => {
  const read = async (options: ReadReq.Options, write: (message: ReadResp) => Promise<unknown>) => {
    const forwards = options.getReadDirection() === FORWARDS
    const from = options.getStream() ?? options.getAll()
    const position = BigInt(options.getAll()?.getPosition()?.getCommitPosition() ?? 0)
    const revision = Number(options.getStream()?.getRevision() ?? 0)
    const name = options.getStream()
    const source = name ? log.stream(nameOf(name)) : log.all
    if (name && !source) return write(notFoundMessage(nameOf(name)))
    const ordered = forwards ? [...(source ?? [])] : [...(source ?? [])].reverse()
    const whole = forwards ? from?.hasStart() : from?.hasEnd()
    const found = ordered.filter((stored) => {
      if (whole) return true
      if (name) return forwards ? stored.revision >= revision : stored.revision <= revision
      return forwards ? stored.position >= position : stored.position < position
    })
    for (const stored of found.slice(0, Number(options.getCount())))
      await write(eventMessage(stored))
  }

  const subscribe = async (
    options: ReadReq.Options,
    write: (message: ReadResp) => Promise<unknown>,
    signal: AbortSignal,
  ) => {
    const wanted = filterOf(options)
    const after = options.getAll()?.getPosition()?.getCommitPosition()
    const found = log.all.findIndex(({ position }) => position > BigInt(after ?? -1))
    let next = found === -1 ? log.all.length : found
    await write(confirmationMessage(randomUUID()))
    for (;;) {
      for (let stored = log.all[next]; stored; stored = log.all[next]) {
        if (wanted(stored)) await write(eventMessage(stored))
        if (++next % checkpointEvery === 0) await write(checkpointMessage(stored.position))
      }
      await write(caughtUpMessage())
      if (next === log.all.length) await once(appended, 'appended', { signal })
    }
  }

  return async (call: ReadCall, signal: AbortSignal): Promise<void> => {
    const options = call.request.getOptions()
    if (!options) return
    const write = async (message: ReadResp) => {
      signal.throwIfAborted()
      if (!call.write(message)) await once(call, 'drain', { signal })
    }
    if (options.hasSubscription()) await subscribe(options, write, signal)
    else await read(options, write)
  }
}
