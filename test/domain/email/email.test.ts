import t from 'tap'
import { decideClaim, decideRelease, email } from '../../../src/domain/email/email.ts'
import { deciding } from '../../support/given.ts'

t.test('claiming an address', async (t) => {
  const given = deciding(t, email)
  const claimed = { type: 'EmailClaimed', data: { userId: 'user-1' } } as const
  given().when(decideClaim('user-1')).emitsOnce(claimed)
  given(claimed).when(decideClaim('user-2')).changesNothing()
})

t.test('releasing an address', async (t) => {
  const given = deciding(t, email)
  const claimed = { type: 'EmailClaimed', data: { userId: 'user-1' } } as const
  const released = { type: 'EmailReleased', data: { userId: 'user-1' } } as const
  given(claimed).when(decideRelease('user-1')).emitsOnce(released)
  given(claimed).when(decideRelease('user-2')).changesNothing()
  given(claimed, released)
    .when(decideClaim('user-2'))
    .emitsOnce({ type: 'EmailClaimed', data: { userId: 'user-2' } })
})
