import t from 'tap'
import { commanding } from '../support/commanding.ts'

const { createDatastore, appendedOnce, organization } = await commanding(t)
const terms = { displayName: 'Terms', description: 'What we agreed on' }

t.test('a DataStore in its organization', async (t) => {
  const { by, organizationId } = await organization()
  const events = await appendedOnce(t, (call) => createDatastore(terms, call), by)
  const stream = `datastores-${organizationId}_${organizationId}`
  t.match(events, [{ type: 'DataStoreCreated', data: terms, stream }])
})

t.test('of two that would look the same the second is refused', async (t) => {
  const { by } = await organization()
  const { datastoreId } = await createDatastore(terms, by)
  const twin = { ...terms, displayName: ' TERMS' }
  await t.rejects(createDatastore(twin, by), {
    code: 'datastore_exists',
    facts: { existingDatastoreId: datastoreId },
  })
  const other = await organization()
  await t.resolves(createDatastore(twin, other.by))
})
