import type { BatchAppendReq, BatchAppendResp } from '@eventstore/db-client/generated/streams_pb.js'
import { type ServerDuplexStream, status } from '@grpc/grpc-js'
import type { Commits } from './commits.ts'
import type { EventLog, Expected, Proposed } from './log.ts'
import { type Answer, answerMessage } from './messages.ts'

export type AppendCall = ServerDuplexStream<BatchAppendReq, BatchAppendResp>

/**
 * The result of appends while a cluster has no leader: the call breaks, the server is not ready, or
 * it does not answer until it times out.
 */
export type Electing = 'unavailable' | 'not ready' | 'hang'

export const unavailable = { code: status.UNAVAILABLE, details: 'the server went away' }

const expectedOf = (options: BatchAppendReq.Options): Expected => {
  if (options.hasNoStream()) return 'no_stream'
  if (options.hasAny()) return 'any'
  return options.hasStreamExists() ? 'stream_exists' : Number(options.getStreamPosition())
}

const proposedOf = (message: BatchAppendReq.ProposedMessage): Proposed => ({
  id: message.getId()?.getString() ?? '',
  type: message.getMetadataMap().get('type') ?? '',
  contentType: message.getMetadataMap().get('content-type') ?? '',
  data: message.getData_asU8(),
  metadata: message.getCustomMetadata_asU8(),
})

/** The BatchAppend calls of one node, which gives up waiting for a write after some time. */
export const appender = (log: EventLog, commits: Commits, givesUpMs = 2_500) => {
  let losing = 0
  let cutting = true
  let electing: Electing | undefined
  let received = 0
  let calls = 0

  /** Stores one append. Answers it after its commit, or not, according to the current fault. */
  const take = (
    call: AppendCall,
    correlation: ReturnType<BatchAppendReq['getCorrelationId']>,
    options: BatchAppendReq.Options,
    events: readonly Proposed[],
  ) => {
    const stream = Buffer.from(options.getStreamIdentifier()?.getStreamName_asU8() ?? []).toString()
    const expected = expectedOf(options)
    const answer = (result: Answer) => {
      if (!call.writableEnded && !call.cancelled)
        call.write(answerMessage(correlation, stream, expected, result))
    }
    const giveUp = () => setTimeout(() => answer({ kind: 'timeout' }), givesUpMs).unref()
    received++
    if (electing === 'unavailable') return call.emit('error', unavailable)
    if (electing === 'not ready') return answer({ kind: 'not ready' })
    if (electing === 'hang') return giveUp()
    const outcome = log.append(stream, expected, events)
    if (outcome.kind === 'dropped') return giveUp()
    if (outcome.kind !== 'appended') return answer(outcome)
    const lost = losing > 0
    if (lost) losing--
    commits.after(() => {
      if (!lost) answer(outcome)
      else if (cutting) call.emit('error', unavailable)
    })
  }

  const batchAppend = (call: AppendCall) => {
    const open = new Map<string, { options: BatchAppendReq.Options; events: Proposed[] }>()
    calls++
    call.on('error', () => undefined)
    call.on('data', (request: BatchAppendReq) => {
      const correlation = request.getCorrelationId()
      const key = correlation?.getString() ?? ''
      const options = request.getOptions()
      if (options) open.set(key, { options, events: [] })
      const append = open.get(key)
      if (!append) return
      append.events.push(...request.getProposedMessagesList().map(proposedOf))
      if (!request.getIsFinal()) return
      open.delete(key)
      take(call, correlation, append.options, append.events)
    })
    call.on('end', () => call.end())
  }

  return {
    batchAppend,
    /** The next appends are stored but not answered: the call they share breaks, or is silent. */
    loseAnswers: (count: number, how: 'cut' | 'silent') => {
      losing = count
      cutting = how === 'cut'
    },
    /** What becomes of all appends from now on; undefined: there is a leader. */
    elect: (how: Electing | undefined) => {
      electing = how
    },
    received: () => received,
    calls: () => calls,
  }
}
