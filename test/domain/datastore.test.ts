import t from 'tap'
import { agentsWith, decideDetach } from '../../src/domain/agent/detach.ts'
import { organizationAgents } from '../../src/domain/agent/organization-agents.ts'
import { evolved } from '../../src/domain/aggregate.ts'
import {
  dataStores,
  decideCleared,
  decideCreate,
  decideDelete,
} from '../../src/domain/datastore/datastore.ts'
import type { DataStoreEvent } from '../../src/domain/datastore/events.ts'
import { created } from '../support/configured.ts'
import { deciding } from '../support/given.ts'

const data = (datastoreId: string, displayName: string) => ({
  datastoreId,
  displayName,
  description: null,
})
const made = (datastoreId: string, displayName: string): DataStoreEvent => ({
  type: 'DataStoreCreated',
  data: data(datastoreId, displayName),
})
const deleted: DataStoreEvent = { type: 'DataStoreDeleted', data: { datastoreId: 'd-1' } }
const cleared: DataStoreEvent = { type: 'DataStoreCleared', data: { datastoreId: 'd-1' } }

t.test('no two DataStores of an organization have one name', async (t) => {
  const given = deciding(t, dataStores)
  given()
    .when(decideCreate(data('d-1', 'Terms')))
    .emitsOnce(made('d-1', 'Terms'))
  for (const name of ['Terms', ' terms ', 'TERMS', 'Ｔerms'])
    given(made('d-1', 'Terms'))
      .when(decideCreate(data('d-2', name)))
      .refuses('datastore_exists')
  given(made('d-1', 'Terms'), deleted)
    .when(decideCreate(data('d-2', 'Terms')))
    .emitsOnce(made('d-2', 'Terms'))
})

t.test('deleted, then cleared', async (t) => {
  const given = deciding(t, dataStores)
  given(made('d-1', 'Terms')).when(decideDelete('d-1')).emits(deleted)
  given().when(decideDelete('d-1')).refuses('datastore_not_found')
  given(made('d-1', 'Terms'), deleted).when(decideDelete('d-1')).refuses('datastore_not_found')
  given(made('d-1', 'Terms'), deleted).when(decideCleared('d-1')).emitsOnce(cleared)
  given(made('d-1', 'Terms')).when(decideCleared('d-1')).changesNothing()
})

t.test('agents let go of a DataStore', async (t) => {
  const agents = [
    created('a', { datastoreIds: ['d-1', 'd-2'] }),
    created('b', { datastoreIds: ['d-2'] }),
    created('c', { datastoreIds: ['d-1'], isActive: false }),
  ]
  const state = evolved(organizationAgents, organizationAgents.initial, agents)
  t.strictSame(agentsWith(state, 'd-1'), [{ agent_id: 'a', name: 'a' }])
  deciding(
    t,
    organizationAgents,
  )(...agents)
    .when(decideDetach('d-1'))
    .emitsOnce(
      { type: 'AgentChanged', data: { agentId: 'a', datastoreIds: ['d-2'] } },
      { type: 'AgentChanged', data: { agentId: 'c', datastoreIds: [] } },
    )
})
