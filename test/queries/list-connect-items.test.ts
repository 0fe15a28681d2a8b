import t from 'tap'
import { findCredential } from '../../queries/find-credential.ts'
import { listConnectItems } from '../../queries/list-connect-items.ts'
import { findAgents } from '../../src/caches/find-agents.ts'
import { credentialsStream, decideStore } from '../../src/domain/credential/credential.ts'
import { consentedHosts } from '../../src/event-sourcing/consented-hosts.ts'
import { credentialsKey } from '../../src/security/vault.ts'
import { commanded } from '../support/commanded.ts'
import { call, platformCall } from '../support/recorded.ts'
import { shopCall } from '../support/shop-call.ts'

const returnUrl = 'https://example.com'
const [first, second] = ['https://first.example', 'https://second.example']

const scene = async (t: Parameters<typeof commanded>[0]) => {
  const host = await commanded(t)
  const owner = { email: 'owner@example.com', name: 'Olga' }
  const home = await host.createOrganization({ name: 'One', owner, plan: null }, platformCall)
  const { organizationId } = home
  const by = { ...call, organizationId, userId: home.ownerUserId }
  const { userId } = await host.provisionUser({ email: 'ann@example.com' }, by)
  const hostsOf = consentedHosts(host.store.read)
  const agents = findAgents({ ...host.read, changes: host.changes, sharedViews: false })
  t.teardown(agents.close)
  const itemsOf = listConnectItems({ ...host.read, findAgents: agents.find, hostsOf })
  const find = findCredential({ ...host.read, hostsOf, open: host.vault.open })
  return { ...host, by, organizationId, userId, itemsOf, find }
}

t.test('lists the credentials to connect, and the skipped ones', async (t) => {
  const { createAgent, createConnectLink, storeCredential, ...rest } = await scene(t)
  const { by, userId, organizationId, itemsOf, seen } = rest
  const tools = [shopCall(first, 'TOKEN', 'OTHER'), 'remember' as const]
  const { agentId } = await createAgent({ name: 'Shopper', tools }, by)
  await storeCredential({ userId, name: 'TOKEN', value: 'secret' }, by)
  await createConnectLink({ userId, agentId, returnUrl }, by)
  await seen()
  t.strictSame(await itemsOf(organizationId, userId, agentId), {
    items: [
      { name: 'OTHER', kind: 'api_call', connected: false },
      { name: 'TOKEN', kind: 'api_call', connected: true },
    ],
    skipped: [{ name: 'remember', reason: 'provided_by_system' }],
  })
})

t.test(
  'a value from before hosts were stored is for the tools that named it at that time',
  async (t) => {
    const { createAgent, changeAgent, transact, vault, seen, ...rest } = await scene(t)
    const { by, userId, organizationId, itemsOf, find } = rest
    const { agentId } = await createAgent({ name: 'A', tools: [shopCall(first, 'TOKEN')] }, by)
    const value = await vault.seal(credentialsKey(organizationId, userId), 'secret')
    const stream = credentialsStream(organizationId, userId)
    await transact(stream, decideStore({ name: 'TOKEN', value }), by)
    const moved = { agentId, change: { tools: [shopCall(second, 'TOKEN')] } }
    await seen()
    t.match(await itemsOf(organizationId, userId, agentId), { items: [{ connected: true }] })
    await changeAgent(moved, by)
    await seen()
    t.match(await itemsOf(organizationId, userId, agentId), { items: [{ connected: false }] })
    const credential = { value: 'secret', hosts: ['first.example'] }
    t.strictSame(await find(organizationId, userId, 'TOKEN'), credential)
  },
)
