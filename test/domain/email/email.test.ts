import t from 'tap'
import { decideClaim, email } from '../../../src/domain/email/email.ts'
import { deciding } from '../../support/given.ts'

t.test('claiming an address', async (t) => {
  const given = deciding(t, email)
  const claimed = { type: 'EmailClaimed', data: { userId: 'user-1' } } as const
  given().when(decideClaim('user-1')).emitsOnce(claimed)
  given(claimed).when(decideClaim('user-2')).changesNothing()
})
