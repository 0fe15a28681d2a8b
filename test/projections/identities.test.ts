import t from 'tap'
import { identities, identityDocumentId } from '../../projections/identities.ts'
import { handlesAll, projecting } from '../support/given.ts'

t.test('an identity that two accounts have is of the first', async (t) => {
  const seen = projecting(t, identities, 'user-user-1')
  const linked = { type: 'IdentityLinked', data: { provider: 'google', subjectHash: 's' } } as const
  const id = identityDocumentId('google', 's')
  seen(linked).shows({ provider: 'google', subject_hash: 's', user_id: 'user-1' }, id)
  seen(linked, { ...linked, stream: 'user-user-2' }).shows({ user_id: 'user-1' }, id)
})

t.test('every event it handles was given', async (t) => handlesAll(t, identities))
