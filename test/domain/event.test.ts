import t from 'tap'
import { metadataFault, ownerOf, timeOf } from '../../src/domain/event.ts'
import { metadata } from '../support/recorded.ts'

t.test('complete metadata has no fault', async (t) => {
  t.equal(metadataFault(metadata), undefined)
  const platform = { ...metadata, actor: { key_id: null, user_id: null }, on_behalf_of: null }
  t.equal(metadataFault(platform), undefined)
})

for (const [field, value] of [
  ['organization_id', 7],
  ['actor', null],
  ['actor', undefined],
  ['actor', 'user-1'],
  ['actor', { key_id: 7, user_id: null }],
  ['actor', { key_id: null, user_id: 7 }],
  ['actor', { key_id: null }],
  ['on_behalf_of', 7],
  ['request_id', null],
  ['at', 'yesterday'],
  ['at', 7],
  ['schema_version', 0],
  ['schema_version', 1.5],
  ['schema_version', '1'],
] as const)
  t.test(`metadata with ${field} ${JSON.stringify(value)} cannot be read`, async (t) => {
    const broken = { ...metadata, [field]: value } as typeof metadata
    t.equal(metadataFault(broken), `invalid metadata.${field}`)
    t.equal(metadataFault(broken), `invalid metadata.${field}`, 'so each time')
    t.equal(ownerOf({ metadata: broken }), 'platform', 'the platform’s history has it')
    t.equal(timeOf({ metadata: broken }), undefined)
  })

t.test('an event without metadata cannot be read', async (t) => {
  for (const none of [null, undefined, 'text']) t.equal(metadataFault(none), 'no metadata')
})

t.test('an event that can be read has its owner and time', async (t) => {
  t.equal(ownerOf({ metadata }), 'org-1')
  t.equal(timeOf({ metadata }), Date.parse(metadata.at))
})
