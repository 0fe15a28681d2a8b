import { EventEmitter } from 'node:events'
import { ServerFeaturesService } from '@eventstore/db-client/generated/serverfeatures_grpc_pb.js'
import features from '@eventstore/db-client/generated/serverfeatures_pb.js'
import { StreamsService } from '@eventstore/db-client/generated/streams_grpc_pb.js'
import type { BatchAppendReq, BatchAppendResp } from '@eventstore/db-client/generated/streams_pb.js'
import {
  Server,
  ServerCredentials,
  type ServerDuplexStream,
  type sendUnaryData,
  status,
} from '@grpc/grpc-js'
import { type Expected, eventLog, type Proposed } from './log.ts'
import { answerMessage } from './messages.ts'
import { type ReadCall, reader } from './reading.ts'

type AppendCall = ServerDuplexStream<BatchAppendReq, BatchAppendResp>

const unavailable = { code: status.UNAVAILABLE, details: 'the server went away' }

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

/** A single insecure node on a port of its own, which behaves as the facts on EventStoreDB say. */
export const eventStoreDbDouble = async () => {
  const log = eventLog()
  const appended = new EventEmitter().setMaxListeners(0)
  const answerRead = reader(log, appended)
  const subscriptions = new Set<ReadCall>()
  let server = new Server()
  let port = 0
  let losing = 0
  let cutting = true

  const read = (call: ReadCall) => {
    const over = new AbortController()
    if (call.request.getOptions()?.hasSubscription()) subscriptions.add(call)
    call.on('cancelled', () => over.abort())
    call.on('error', () => over.abort())
    answerRead(call, over.signal)
      .catch((error: Error) => {
        if (!over.signal.aborted) call.emit('error', error)
      })
      .finally(() => {
        subscriptions.delete(call)
        if (!over.signal.aborted) call.end()
      })
  }

  const batchAppend = (call: AppendCall) => {
    const open = new Map<string, { options: BatchAppendReq.Options; events: Proposed[] }>()
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
      const name = append.options.getStreamIdentifier()?.getStreamName_asU8() ?? []
      const stream = Buffer.from(name).toString()
      const expected = expectedOf(append.options)
      const outcome = log.append(stream, expected, append.events)
      appended.emit('appended')
      if (losing === 0) return call.write(answerMessage(correlation, stream, expected, outcome))
      losing--
      if (cutting) call.emit('error', unavailable)
    })
    call.on('end', () => call.end())
  }

  const getSupportedMethods = (
    _call: unknown,
    answer: sendUnaryData<InstanceType<typeof features.SupportedMethods>>,
  ) => {
    const methods = Object.values(StreamsService).map(({ path }) => {
      const [, service = '', method = ''] = path.split('/')
      return new features.SupportedMethod().setServiceName(service).setMethodName(method)
    })
    const supported = new features.SupportedMethods().setMethodsList(methods)
    answer(null, supported.setEventStoreServerVersion('23.10.0'))
  }

  /** Listens again, on the same port and with the same data. */
  const start = async (): Promise<void> => {
    server = new Server({ 'grpc.max_receive_message_length': 17 * 1024 * 1024 })
    server.addService(StreamsService, { read, batchAppend })
    server.addService(ServerFeaturesService, { getSupportedMethods })
    port = await new Promise<number>((resolve, reject) => {
      const credentials = ServerCredentials.createInsecure()
      server.bindAsync(`127.0.0.1:${port}`, credentials, (error, bound) =>
        error ? reject(error) : resolve(bound),
      )
    })
  }

  await start()
  return {
    url: `esdb://127.0.0.1:${port}?tls=false`,
    start,
    /** As a killed process does: every connection breaks, and nobody listens. */
    stop: () => server.forceShutdown(),
    /** Breaks every subscription there is; answers how many. */
    dropSubscriptions: (): number => {
      const dropped = [...subscriptions]
      for (const call of dropped) call.emit('error', unavailable)
      return dropped.length
    },
    /** The next appends are stored but not answered: the call they share breaks, or is silent. */
    loseAnswers: (count: number, how: 'cut' | 'silent') => {
      losing = count
      cutting = how === 'cut'
    },
    log,
  }
}
