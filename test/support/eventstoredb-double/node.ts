import type { ServerHttp2Session } from 'node:http2'
import { GossipService } from '@eventstore/db-client/generated/gossip_grpc_pb.js'
import type { ClusterInfo } from '@eventstore/db-client/generated/gossip_pb.js'
import { ServerFeaturesService } from '@eventstore/db-client/generated/serverfeatures_grpc_pb.js'
import features from '@eventstore/db-client/generated/serverfeatures_pb.js'
import { StreamsService } from '@eventstore/db-client/generated/streams_grpc_pb.js'
import { Server, type sendUnaryData } from '@grpc/grpc-js'
import type { Access } from './access.ts'
import { type AppendCall, appender, unavailable } from './appending.ts'
import type { Commits } from './commits.ts'
import type { EventLog } from './log.ts'
import { type ReadCall, reader } from './reading.ts'

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

/** The private connections of a gRPC server, each of which it ends with a GOAWAY frame. */
const sessionsOf = (server: Server) =>
  (server as unknown as { sessions: Map<ServerHttp2Session, unknown> }).sessions.keys()

type Options = {
  log: EventLog
  commits: Commits
  gossip: () => ClusterInfo
  access: Access
  givesUpMs?: number | undefined
}

/** One server on a port of its own, over a log that other nodes may share. */
export const eventStoreDbNode = async ({ log, commits, gossip, access, givesUpMs }: Options) => {
  const { answer: answerRead, reads, refuseCheckpoints } = reader(log, commits.committed)
  const appends = appender(log, commits, givesUpMs)
  const subscriptions = new Set<ReadCall>()
  let server = new Server()
  let port = 0

  const read = (call: ReadCall) => {
    const refusal = access.refusalOf(call.metadata)
    if (refusal) return call.emit('error', refusal)
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
    const refusal = access.refusalOf(call.metadata)
    if (refusal) call.emit('error', refusal)
    else appends.batchAppend(call)
  }

  /** Listens again, on the same port and with the same data. */
  const start = async (): Promise<void> => {
    server = new Server({ 'grpc.max_receive_message_length': 17 * 1024 * 1024 })
    server.addService(StreamsService, { read, batchAppend })
    server.addService(ServerFeaturesService, { getSupportedMethods })
    server.addService(GossipService, {
      read: (_call: unknown, answer: sendUnaryData<ClusterInfo>) => answer(null, gossip()),
    })
    port = await new Promise<number>((resolve, reject) => {
      server.bindAsync(`127.0.0.1:${port}`, access.credentials, (error, bound) =>
        error ? reject(error) : resolve(bound),
      )
    })
  }

  await start()
  return {
    port,
    start,
    /** As a killed process does: every connection breaks, and nobody listens. */
    stop: () => {
      for (const { socket, encrypted, destroyed } of sessionsOf(server))
        if (!encrypted && !destroyed) socket.resetAndDestroy()
      server.forceShutdown()
    },
    /** Breaks every subscription there is; answers how many. */
    dropSubscriptions: (): number => {
      const dropped = [...subscriptions]
      for (const call of dropped) call.emit('error', unavailable)
      return dropped.length
    },
    appends,
    /** All Read calls that came, the oldest first. */
    reads,
    refuseCheckpoints,
  }
}

export type EventStoreDbNode = Awaited<ReturnType<typeof eventStoreDbNode>>
