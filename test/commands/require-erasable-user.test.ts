import t from 'tap'
import { commanding } from '../support/commanding.ts'

const { organization, removeMember, requireErasableUser, appended } = await commanding(t)

t.test('passes for provisioned users and former members', async (t) => {
  const { by, provisioned, member } = await organization()
  const other = await organization()
  const user = await provisioned()
  const colleague = await member()
  const events = await appended(async () => {
    await requireErasableUser(user, by)
    await t.rejects(requireErasableUser(colleague, by), { code: 'not_provisioned' })
    await t.rejects(requireErasableUser(user, other.by), { code: 'user_not_found' })
  })
  t.strictSame(events, [])
  await removeMember({ userId: colleague, by: { asOwner: true } }, by)
  await requireErasableUser(colleague, by)
})
