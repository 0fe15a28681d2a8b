import t from 'tap'
import { commanding, typesOf } from '../support/commanding.ts'
import { platformCall } from '../support/recorded.ts'

const { addMember, provisionUser, recordLogin, appended, appendedOnce, organization } =
  await commanding(t)

t.test('an account and its pending membership', async (t) => {
  const { by, organizationId } = await organization()
  const command = { email: 'paul@example.com', name: 'Paul' }
  const events = await appendedOnce(t, (call) => provisionUser(command, call), by)
  t.strictSame(typesOf(events), ['EmailClaimed', 'UserRegistered', 'UserInvited', 'MemberAdded'])
  t.match(events[1], { data: { origin: 'provisioned', provisionedBy: organizationId } })
  t.match(events[3], { data: { role: 'MEMBER', status: 'pending', provisioned: true } })
  t.match(await provisionUser(command, by), { created: false, status: 'pending' })
})

t.test('of two at once one is told that it made the account', async (t) => {
  const { by } = await organization()
  const command = { email: 'twin@example.com' }
  const both = await Promise.all([provisionUser(command, by), provisionUser(command, by)])
  t.equal(both.filter(({ created }) => created).length, 1)
  t.equal(new Set(both.map(({ userId }) => userId)).size, 1)
})

t.test('an account of another organization is refused once its person has signed in', async (t) => {
  const [creator, other] = [await organization(), await organization()]
  const email = 'elsewhere@example.com'
  const { userId } = await provisionUser({ email }, creator.by)
  await recordLogin({ email, provider: 'test', subject: email }, platformCall)
  await t.rejects(provisionUser({ email }, other.by), { code: 'account_not_provisionable' })
  const member = { userId, created: false, status: 'active' }
  t.match(await provisionUser({ email }, creator.by), member, 'its own organization has it')
})

t.test(
  'a person whom another organization invited is added before the first sign-in',
  async (t) => {
    const [inviting, other] = [await organization(), await organization()]
    const email = 'invited@example.com'
    const { userId } = await addMember({ email, role: 'MEMBER' }, inviting.by)
    t.match(await provisionUser({ email }, other.by), { userId, created: false, status: 'pending' })
  },
)

t.test('refusals', async (t) => {
  const { by } = await organization()
  const email = 'self@example.com'
  await recordLogin({ email, provider: 'test', subject: 'self' }, platformCall)
  const events = await appended(async () => {
    await t.rejects(provisionUser({ email }, by), { code: 'account_not_provisionable' })
    const nowhere = { ...by, organizationId: 'nowhere' }
    await t.rejects(provisionUser({ email }, nowhere), { code: 'organization_not_found' })
  })
  t.strictSame(events, [])
})
