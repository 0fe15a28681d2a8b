import { EventStoreDBClient } from '@eventstore/db-client'

/**
 * The client that reads. One that failed is not used again: what it keeps of its failure can fail
 * later calls, and a new client finds the leader at once. Reads that still run on it go on.
 */
export const readingClients = (url: string) => {
  let client: EventStoreDBClient | undefined = EventStoreDBClient.connectionString(url)
  return {
    current: (): EventStoreDBClient => {
      client ??= EventStoreDBClient.connectionString(url)
      return client
    },
    replace: (failed: EventStoreDBClient): void => {
      if (client === failed) client = undefined
    },
    dispose: async (): Promise<void> => client?.dispose(),
  }
}

export type Clients = ReturnType<typeof readingClients>
