import t from 'tap'
import { commanding, typesOf } from '../support/commanding.ts'
import { apiKeySettings } from '../support/key-settings.ts'

const all = await commanding(t)
const { addMember, removeMember, changeMember, appended, appendedOnce, organization } = all
const asOwner = { asOwner: true }
const asAdmin = { asOwner: false }

t.test('a member', async (t) => {
  const { by, organizationId, member } = await organization()
  const userId = await member()
  const events = await appendedOnce(t, (call) => removeMember({ userId, by: asAdmin }, call), by)
  const stream = `member-${organizationId}_${userId}`
  t.strictSame(events, [{ type: 'MemberRemoved', data: {}, stream }])
})

t.test('one who has not signed in is no longer invited', async (t) => {
  const { by } = await organization()
  const { userId } = await addMember({ email: 'ann@example.com', role: 'MEMBER' }, by)
  const events = await appendedOnce(t, (call) => removeMember({ userId, by: asAdmin }, call), by)
  t.strictSame(typesOf(events), ['MemberRemoved', 'InvitationsSettled'])
})

t.test('an owner stops counting first', async (t) => {
  const { by, member } = await organization()
  const userId = await member()
  await changeMember({ userId, role: 'OWNER', by: asOwner }, by)
  const events = await appendedOnce(t, (call) => removeMember({ userId, by: asOwner }, call), by)
  t.strictSame(typesOf(events), ['OwnerRemoved', 'MemberRemoved'])
})

t.test('refusals', async (t) => {
  const { by, ownerId } = await organization()
  const events = await appended(async () => {
    const remove = (userId: string, who: { asOwner: boolean }) =>
      removeMember({ userId, by: who }, by)
    await t.rejects(remove('none', asOwner), { code: 'member_not_found' })
    await t.rejects(remove(ownerId, asAdmin), { code: 'owner_required' })
    await t.rejects(remove(ownerId, asOwner), { code: 'last_owner' })
  })
  t.strictSame(events, [])
})

t.test('keys that the member backs and connect links end first', async (t) => {
  const { by, organizationId, orchestratorAgentId, provisioned, member, ownerId } =
    await organization()
  const userId = await member()
  const key = (backer: string) => all.createApiKey({ ...apiKeySettings, userId: backer }, by)
  const hers = await key(userId)
  const owners = await key(ownerId)
  const keyIds = [hers.keyId, owners.keyId, 'unknown']
  const command = { userId, by: asOwner, keyIds }
  const events = await appendedOnce(t, (call) => removeMember(command, call), by)
  t.match(events, [
    { type: 'ApiKeyRevoked', stream: `apikey-${organizationId}_${hers.keyId}` },
    { type: 'MemberRemoved' },
  ])
  t.equal(events.length, 2, 'a key that another backs stays')

  const headers = { Authorization: 'Bearer {{credential:SHOP}}' }
  const tool = {
    type: 'api_call' as const,
    name: 'get',
    description: 'Gets',
    method: 'GET',
    url: 'https://shop.example/',
    headers,
    parameters: {},
  }
  const change = { tools: [tool] }
  await all.changeAgent({ agentId: orchestratorAgentId, change }, by)
  const user = await provisioned()
  const returnUrl = 'https://app.example/'
  await all.createConnectLink({ userId: user, agentId: orchestratorAgentId, returnUrl }, by)
  const removal = await appended(() => removeMember({ userId: user, by: asOwner }, by))
  t.strictSame(typesOf(removal), ['ConnectLinksRevoked', 'MemberRemoved', 'InvitationsSettled'])
})
