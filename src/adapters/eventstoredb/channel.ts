import { EventStoreDBClient } from '@eventstore/db-client'
import { StreamsClient } from '@eventstore/db-client/generated/streams_grpc_pb.js'

type BatchAppend = ReturnType<InstanceType<typeof StreamsClient>['batchAppend']>

/** What the client keeps to itself: the channel to the node that it discovered, and credentials. */
type Inner = {
  getChannel(): Promise<{ close(): void }>
  callArguments(
    base: object,
    options: { deadline: number },
  ): Parameters<InstanceType<typeof StreamsClient>['batchAppend']>
}

/** A BatchAppend call on a connection of its own. */
export type OpenedCall = {
  call: BatchAppend
  /** Ends the call and its connection. What is under way is not answered. */
  close(): void
}

/**
 * Finds the leader, as the client does, and opens one call for all appends.
 *
 * The client's own `appendToStream` is not used. It keeps the appends under way in a table of the
 * module, so that one connection that ends fails the appends of all, and a late answer to one of
 * them throws where nothing can catch it; and it never recovers from a discovery that failed.
 * @throws a plain Error when no node answers
 */
export const openBatchAppend = async (url: string): Promise<OpenedCall> => {
  const client = EventStoreDBClient.connectionString(url) as unknown as Inner
  const channel = await client.getChannel()
  const streams = new StreamsClient(null as never, null as never, {
    channelOverride: channel as never,
  })
  const call = streams.batchAppend(
    ...client.callArguments({}, { deadline: Number.POSITIVE_INFINITY }),
  )
  return {
    call,
    close: () => {
      call.cancel()
      channel.close()
    },
  }
}
