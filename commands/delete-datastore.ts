import { agentsWith, decideDetach } from '../src/domain/agent/detach.ts'
import { organizationAgentsStream } from '../src/domain/agent/organization-agents.ts'
import {
  dataStoresStream,
  decideDelete,
  requireDataStore,
} from '../src/domain/datastore/datastore.ts'
import { refusal } from '../src/domain/refusal.ts'
import type { Streams } from '../src/event-sourcing/transactor.ts'
import type { Call } from '../src/ports/call.ts'

export type DeleteDatastore = {
  datastoreId: string
  /** Takes it from the agents that name it, and gives its unfinished uploads up. */
  force: boolean
  /** How many of its uploads the caller knows to be unfinished. */
  unfinished: number
}

const inUse = (agents: readonly { name: string }[], unfinished: number): string =>
  agents.length > 0
    ? `The DataStore is in use by: ${agents.map(({ name }) => name).join(', ')}`
    : `The DataStore has ${unfinished} unfinished uploads`

/**
 * From here on nobody sees the DataStore; removing its files is up to a reactor.
 * @throws datastore_not_found, datastore_in_use
 */
export const deleteDatastore =
  ({ load, transact }: Streams) =>
  async ({ datastoreId, force, unfinished }: DeleteDatastore, call: Call) => {
    const own = dataStoresStream(call.organizationId)
    const squad = organizationAgentsStream(call.organizationId)
    requireDataStore(datastoreId)((await load(own)).state)
    const { state } = await load(squad)
    const agents = agentsWith(state, datastoreId)
    if (!force && (agents.length > 0 || unfinished > 0))
      throw refusal('datastore_in_use', { message: inUse(agents, unfinished), agents })
    const detached = await transact(squad, decideDetach(datastoreId), call)
    const deleted = await transact(own, decideDelete(datastoreId), call)
    return { position: Math.max(detached.position, deleted.position) }
  }
export type DeleteDatastoreCommand = ReturnType<typeof deleteDatastore>
