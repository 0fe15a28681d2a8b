import t from 'tap'
import { decideClaimIdentity, identity } from '../../../src/domain/identity/identity.ts'
import { deciding } from '../../support/given.ts'

t.test('the first account to claim an identity has it', async (t) => {
  const given = deciding(t, identity)
  const claimed = { type: 'IdentityClaimed', data: { userId: 'user-1' } } as const
  given().when(decideClaimIdentity('user-1')).emitsOnce(claimed)
  given(claimed).when(decideClaimIdentity('user-2')).changesNothing()
})
