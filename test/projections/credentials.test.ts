import t from 'tap'
import { credentialDocumentId, credentials } from '../../projections/credentials.ts'
import { erasure } from '../../src/domain/erasure.ts'
import { sample } from '../support/events.ts'
import { handlesAll, projecting } from '../support/given.ts'

const sealed = { $sealed: 'credentials:org-1/user-1', box: 'b' }

t.test('credentials', async (t) => {
  const seen = projecting(t, credentials, 'credentials-org-1_user-1')
  const id = credentialDocumentId('org-1', 'user-1', 'TOKEN')
  const value = { $sealed: 'credentials:org-1/user-1', box: 'new' }
  const stored = { type: 'CredentialStored', data: { name: 'TOKEN', value: sealed } } as const
  const rotated = {
    type: 'CredentialRotated',
    data: { name: 'TOKEN', value },
    at: '2026-01-02T00:00:00.000Z',
  } as const
  seen(stored).shows({ name: 'TOKEN', value: sealed, updated_at: '2026-01-01T00:00:00.000Z' }, id)
  seen(stored, rotated).shows(
    {
      name: 'TOKEN',
      organization_id: 'org-1',
      user_id: 'user-1',
      value,
      created_at: '2026-01-01T00:00:00.000Z',
      updated_at: '2026-01-02T00:00:00.000Z',
    },
    id,
  )
  const agreed = { ...stored, data: { ...stored.data, hosts: ['shop.example'] } }
  seen(agreed).shows({ hosts: ['shop.example'] }, id)
  seen(stored, { ...rotated, data: { ...rotated.data, hosts: [] } }).shows({ hosts: [] }, id)
  seen(agreed, rotated).shows({ value, hosts: undefined }, id)
  seen(stored, { type: 'CredentialDeleted', data: { name: 'TOKEN' } }).showsNothing(id)
  const data = erasure.parse(sample('CredentialsErased').data)
  seen(stored, { type: 'CredentialsErased', data }).showsNothing(id)
})

t.test('every event it handles was given', async (t) => handlesAll(t, credentials))
