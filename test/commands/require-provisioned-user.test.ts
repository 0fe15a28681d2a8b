import t from 'tap'
import { commanding } from '../support/commanding.ts'

const { requireProvisionedUser, organization } = await commanding(t)

t.test('a provisioned user passes', async (t) => {
  const { by, provisioned } = await organization()
  await t.resolves(requireProvisionedUser(await provisioned(), by))
})

t.test('another member is refused, and so is an unknown user', async (t) => {
  const { by, member } = await organization()
  const userId = await member('ADMIN')
  await t.rejects(requireProvisionedUser(userId, by), { code: 'not_provisioned' })
  await t.rejects(requireProvisionedUser('none', by), { code: 'user_not_found' })
})
