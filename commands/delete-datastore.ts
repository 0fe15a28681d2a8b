import { agentsWith, decideDetach } from '../src/domain/agent/detach.ts'
import { organizationAgentsStream } from '../src/domain/agent/organization-agents.ts'
import { despiteUnreadable } from '../src/domain/aggregate.ts'
import {
  dataStoresStream,
  decideDelete,
  requireDataStore,
} from '../src/domain/datastore/datastore.ts'
import { latest } from '../src/domain/event.ts'
import { fileStream, isUnderWay } from '../src/domain/file/file.ts'
import type { Load, Streams } from '../src/event-sourcing/transactor.ts'
import type { Call } from '../src/ports/call.ts'
import { fileKey } from '../src/support/ids.ts'

export type DeleteDatastore = {
  datastoreId: string
  /** Takes it from the agents that name it, and gives its unfinished uploads up. */
  force: boolean
}

/**
 * Deletes a DataStore: it is invisible at once. Then its route has its files removed and waits for
 * that (`emptyDatastore` in src/workers/index-uploads.ts); after a crash the worker continues.
 * @throws datastore_not_found, datastore_in_use
 */
export const deleteDatastore =
  ({ load, transact }: Streams) =>
  async ({ datastoreId, force }: DeleteDatastore, call: Call) => {
    const { organizationId } = call
    const own = despiteUnreadable(dataStoresStream(organizationId))
    const agents = despiteUnreadable(organizationAgentsStream(organizationId))
    const { state } = await load(own)
    const { unfinished } = requireDataStore(datastoreId)(state)
    const decide = decideDelete({
      datastoreId,
      force,
      agents: agentsWith((await load(agents)).state, datastoreId),
      over: force ? [] : await overIn(load, organizationId, { datastoreId, unfinished }),
    })
    decide(state)
    const detached = await transact(agents, decideDetach(datastoreId), call)
    const deleted = await transact(own, decide, call)
    return { position: latest(detached.position, deleted.position) }
  }
export type DeleteDatastoreCommand = ReturnType<typeof deleteDatastore>

type Unfinished = { datastoreId: string; unfinished: Readonly<Record<string, string>> }

/**
 * Uploads marked unfinished in a DataStore's stream that are not under way in their file's stream.
 */
const overIn = async (
  load: Load,
  organizationId: string,
  { datastoreId, unfinished }: Unfinished,
): Promise<string[]> => {
  const over: string[] = []
  for (const [uploadId, filename] of Object.entries(unfinished)) {
    const stream = despiteUnreadable(fileStream(organizationId, fileKey(datastoreId, filename)))
    const { state } = await load(stream)
    if (!isUnderWay(state, uploadId)) over.push(uploadId)
  }
  return over
}
