import t from 'tap'
import { commanding, typesOf } from '../support/commanding.ts'

const { addMember, appendedOnce, organization } = await commanding(t)
const ann = { email: 'ann@example.com', role: 'ADMIN' } as const

t.test('a person is registered and invited, then a pending member', async (t) => {
  const { by } = await organization()
  const events = await appendedOnce(t, (call) => addMember(ann, call), by)
  t.strictSame(typesOf(events), ['EmailClaimed', 'UserRegistered', 'UserInvited', 'MemberAdded'])
  t.match(events[3], { data: { role: 'ADMIN', status: 'pending' } })
})

t.test('an account that exists is invited like any other', async (t) => {
  const { by } = await organization()
  const events = await appendedOnce(t, (call) => addMember(ann, call), by)
  t.strictSame(typesOf(events), ['UserInvited', 'MemberAdded'])
})

t.test('refusals', async (t) => {
  const { by } = await organization()
  await addMember(ann, by)
  await t.rejects(addMember({ ...ann, role: 'MEMBER' }, by), { code: 'member_exists' })
  const nowhere = { ...by, organizationId: 'nowhere' }
  await t.rejects(addMember(ann, nowhere), { code: 'organization_not_found' })
})
