import t from 'tap'
import { agentsWith, decideDetach } from '../../../src/domain/agent/detach.ts'
import { organizationAgents } from '../../../src/domain/agent/organization-agents.ts'
import { evolved } from '../../../src/domain/aggregate.ts'
import {
  dataStores,
  decideBeginUploads,
  decideCleared,
  decideCreate,
  decideDelete,
  decideFinishUploads,
} from '../../../src/domain/datastore/datastore.ts'
import type { DataStoreEvent } from '../../../src/domain/datastore/events.ts'
import { created } from '../../support/configured.ts'
import { deciding } from '../../support/given.ts'

const data = (datastoreId: string, displayName: string) => ({
  datastoreId,
  displayName,
  description: null,
})
const datastoreCreated = (datastoreId: string, displayName: string): DataStoreEvent => ({
  type: 'DataStoreCreated',
  data: data(datastoreId, displayName),
})
const deleted: DataStoreEvent = { type: 'DataStoreDeleted', data: { datastoreId: 'd-1' } }
const cleared: DataStoreEvent = { type: 'DataStoreCleared', data: { datastoreId: 'd-1' } }

t.test('no two DataStores of an organization have one name', async (t) => {
  const given = deciding(t, dataStores)
  given()
    .when(decideCreate(data('d-1', 'Terms')))
    .emitsOnce(datastoreCreated('d-1', 'Terms'))
  for (const name of ['Terms', ' terms ', 'TERMS', 'Ｔerms'])
    given(datastoreCreated('d-1', 'Terms'))
      .when(decideCreate(data('d-2', name)))
      .refuses('datastore_exists')
  given(datastoreCreated('d-1', 'Terms'), deleted)
    .when(decideCreate(data('d-2', 'Terms')))
    .emitsOnce(datastoreCreated('d-2', 'Terms'))
})

const uploadsBegun = (...uploadIds: string[]): DataStoreEvent => ({
  type: 'UploadsBegun',
  data: {
    datastoreId: 'd-1',
    uploads: uploadIds.map((uploadId) => ({ uploadId, filename: `${uploadId}.txt` })),
  },
})
const finished = (...uploadIds: string[]): DataStoreEvent => ({
  type: 'UploadsFinished',
  data: { datastoreId: 'd-1', uploadIds },
})
const deletion = { datastoreId: 'd-1', force: false, agents: [], over: [] }

t.test('uploads are begun and finished once', async (t) => {
  const given = deciding(t, dataStores)
  const uploads = [
    { uploadId: 'u-1', filename: 'u-1.txt' },
    { uploadId: 'u-2', filename: 'u-2.txt' },
  ]
  const decision = decideBeginUploads({ datastoreId: 'd-1', uploads })
  given(datastoreCreated('d-1', 'Terms')).when(decision).emitsOnce(uploadsBegun('u-1', 'u-2'))
  given(datastoreCreated('d-1', 'Terms'), uploadsBegun('u-1'))
    .when(decision)
    .emitsOnce(uploadsBegun('u-2'))
  given().when(decision).refuses('datastore_not_found')
  given(datastoreCreated('d-1', 'Terms'), deleted).when(decision).refuses('datastore_not_found')
  const finish = decideFinishUploads({ datastoreId: 'd-1', uploadIds: ['u-1', 'u-3'] })
  given(datastoreCreated('d-1', 'Terms'), uploadsBegun('u-1', 'u-2'))
    .when(finish)
    .emitsOnce(finished('u-1'))
  given(datastoreCreated('d-1', 'Terms')).when(finish).changesNothing()
  given(datastoreCreated('d-1', 'Terms'), uploadsBegun('u-1'), deleted, cleared)
    .when(finish)
    .changesNothing()
})

t.test('a DataStore that is in use is deleted by force only', async (t) => {
  const given = deciding(t, dataStores)
  const used = { ...deletion, agents: [{ agentId: 'a', name: 'Reader' }] }
  const terms = datastoreCreated('d-1', 'Terms')
  given(terms).when(decideDelete(used)).refuses('datastore_in_use')
  given(terms)
    .when(decideDelete({ ...used, force: true }))
    .emitsOnce(deleted)
  given(terms, uploadsBegun('u-1', 'u-2'), finished('u-1'))
    .when(decideDelete(deletion))
    .refuses('datastore_in_use')
  given(terms, uploadsBegun('u-1'))
    .when(decideDelete({ ...deletion, force: true }))
    .emitsOnce(deleted)
  given(terms, uploadsBegun('u-1'), finished('u-1')).when(decideDelete(deletion)).emitsOnce(deleted)
  given(terms, uploadsBegun('u-1'))
    .when(decideDelete({ ...deletion, over: ['u-1'] }))
    .emitsOnce(deleted)
})

t.test('deleted, then cleared', async (t) => {
  const given = deciding(t, dataStores)
  given(datastoreCreated('d-1', 'Terms')).when(decideDelete(deletion)).emits(deleted)
  given().when(decideDelete(deletion)).refuses('datastore_not_found')
  given(datastoreCreated('d-1', 'Terms'), deleted)
    .when(decideDelete(deletion))
    .refuses('datastore_not_found')
  given(datastoreCreated('d-1', 'Terms'), deleted).when(decideCleared('d-1')).emitsOnce(cleared)
  given(datastoreCreated('d-1', 'Terms')).when(decideCleared('d-1')).changesNothing()
})

t.test('agents let go of a DataStore', async (t) => {
  const agents = [
    created('a', { datastoreIds: ['d-1', 'd-2'] }),
    created('b', { datastoreIds: ['d-2'] }),
    created('c', { datastoreIds: ['d-1'], isActive: false }),
  ]
  const state = evolved(organizationAgents, organizationAgents.initial, agents)
  t.strictSame(agentsWith(state, 'd-1'), [{ agentId: 'a', name: 'a' }])
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
