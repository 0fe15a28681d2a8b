import t, { type Test } from 'tap'
import { scopes } from '../../src/domain/api-key/scopes.ts'
import { type Client, client } from '../support/client.ts'
import { startApp } from '../support/server.ts'

const users = '/api/external/management/users'

/** Two organizations that know nothing of each other; each with its owner's user key. */
const scene = async (t: Test) => {
  const server = await startApp(t)
  const { platform } = server
  const make = async () => {
    const organization = await platform.organization()
    const { organizationId, ownerId } = organization
    const at = `/api/admin/organizations/${organizationId}`
    const asOwner = await organization.key({ type: 'user', scopes })
    const [{ email }] = (await asOwner.ask('GET', `${at}/members`)).body.members
    return {
      ...organization,
      at,
      asOwner,
      email: email as string,
      ownerId,
      invite: (email: string, more = {}) =>
        asOwner.ask('POST', `${at}/members`, { email, ...more }),
      provision: (email: string, more = {}) =>
        asOwner.ask('POST', users, { email, organization_id: organizationId, ...more }),
      /** A key that somebody else backs. */
      backed: (user_id: string, by: Client = asOwner) =>
        by.ask('POST', `${at}/api-keys`, { name: 'Theirs', user_id }),
    }
  }
  const signIn = (email: string, more = {}) =>
    platform.ask('POST', '/identity/logins', { email, provider: 'test', subject: email, ...more })
  return { server, platform, signIn, mallory: await make(), victim: await make() }
}

const memberships = '/api/me/memberships'

t.test('a stranger’s invitation changes nothing until she accepts', async (t) => {
  const { signIn, mallory, victim } = await scene(t)
  const { organizationId } = mallory
  t.match(await mallory.invite(victim.email), { status: 201, body: { status: 'pending' } })
  t.match(await signIn(victim.email), {
    activated_organization_ids: [],
    pending_organization_ids: [organizationId],
    current_organization_id: victim.organizationId,
  })
  t.match(await mallory.backed(victim.ownerId), { status: 409, code: 'member_pending' })
  const own = victim.asOwner
  const listed = await own.ask('GET', memberships)
  t.match(listed, { status: 200, body: { total: 2 } })
  t.match(listed.body.memberships, [
    { organization_id: victim.organizationId, role: 'OWNER', status: 'active', current: true },
    {
      organization_id: organizationId,
      name: /^Organization/,
      role: 'MEMBER',
      status: 'pending',
      current: false,
      allow_backing: false,
      invited_at: String,
    },
  ])
  t.match(await own.ask('POST', `${memberships}/${organizationId}/accept`), {
    status: 200,
    body: { organization_id: organizationId, status: 'active' },
  })
  t.match((await own.ask('GET', memberships)).body.memberships, [
    { current: true },
    { status: 'active', current: false },
  ])
  t.match(await own.ask('GET', victim.at), { status: 200 }, 'she acts where she acted')
  const refused = { status: 403, code: 'backing_not_allowed' }
  t.match(await mallory.backed(victim.ownerId), refused, 'she has not agreed to pay')
  const agreed = { allow_backing: true }
  t.match(await own.ask('POST', `${memberships}/${organizationId}/accept`, agreed), { status: 200 })
  t.match(await mallory.backed(victim.ownerId), { status: 201 })
})

t.test('an invitation is declined', async (t) => {
  const { signIn, mallory, victim } = await scene(t)
  const path = `${memberships}/${mallory.organizationId}`
  await mallory.invite(victim.email)
  const own = victim.asOwner
  t.match(await own.ask('POST', `${path}/decline`), { status: 204 })
  for (const act of ['accept', 'decline'])
    t.match(await own.ask('POST', `${path}/${act}`), { status: 404, code: 'invitation_not_found' })
  t.match((await own.ask('GET', memberships)).body, { total: 1 })
  const accept = [{ organization_id: mallory.organizationId }]
  t.match(await signIn(victim.email, { accept }), { activated_organization_ids: [] })
  t.match((await mallory.asOwner.ask('GET', `${mallory.at}/members`)).body, { total: 1 })
})

t.test('the current organization is the user’s own to choose', async (t) => {
  const { mallory, victim } = await scene(t)
  const own = victim.asOwner
  const path = `${memberships}/${mallory.organizationId}`
  t.match(await own.ask('PUT', `${path}/current`), { status: 404, code: 'member_not_found' })
  await mallory.invite(victim.email)
  t.match(await own.ask('PUT', `${path}/current`), { status: 404, code: 'member_not_found' })
  await own.ask('POST', `${path}/accept`)
  t.match(await own.ask('PUT', `${path}/current`), {
    status: 200,
    body: { current_organization_id: mallory.organizationId },
  })
  t.match(await own.ask('GET', mallory.at), { status: 403, code: 'role_required' })
  t.match(await own.ask('PUT', `${memberships}/${victim.organizationId}/current`), { status: 200 })
  t.match(await own.ask('GET', victim.at), { status: 200 })
  await mallory.invite('new@example.com')
  for (const [method, act] of [
    ['POST', 'accept'],
    ['POST', 'decline'],
    ['PUT', 'current'],
  ] as const) {
    const application = await victim.key({ scopes: ['admin:read', 'admin:write'] })
    t.match(await application.ask(method, `${path}/${act}`), {
      status: 403,
      code: 'user_key_required',
    })
  }
})

t.test('who has no key accepts while signing in', async (t) => {
  const { signIn, platform, mallory, victim } = await scene(t)
  const email = 'keyless@example.com'
  const { user_id } = (await mallory.invite(email)).body
  await victim.invite(email)
  const accept = [{ organization_id: victim.organizationId }]
  t.match(await signIn(email, { accept }), {
    user_id,
    activated_organization_ids: [victim.organizationId],
    pending_organization_ids: [mallory.organizationId],
    current_organization_id: victim.organizationId,
  })
  t.match(await victim.backed(user_id), { code: 'backing_not_allowed' })
  const input = { name: 'Named', user_id }
  t.match(
    await platform.ask('POST', `/organizations/${victim.organizationId}/api-keys`, input),
    { user_id },
    'the platform may name any member',
  )
})

t.test(
  'only the organization that provisioned an account joins it at the first login',
  async (t) => {
    const { signIn, mallory, victim } = await scene(t)
    const email = 'ann@example.com'
    const { user_id } = (await victim.provision(email)).body
    t.match(await mallory.provision(email), { body: { user_id, created: false } })
    t.match(await signIn(email), {
      activated_organization_ids: [victim.organizationId],
      pending_organization_ids: [mallory.organizationId],
      current_organization_id: victim.organizationId,
    })
    t.match(await victim.backed(user_id), { status: 201 }, 'its own account backs keys')
    t.match(await mallory.backed(user_id), { code: 'member_pending' })
    await victim.asOwner.ask('DELETE', `${victim.at}/members/${user_id}`)
    t.match(await victim.invite(email), { status: 201 })
    t.match(await signIn(email), { activated_organization_ids: [] }, 'later ones are accepted')
  },
)

t.test('an organization sees of a person what it sent itself', async (t) => {
  const { mallory, victim, signIn } = await scene(t)
  const email = 'secret@example.com'
  const provisioned = await victim.provision(email, { name: 'Patient of Dr. Who' })
  const { user_id } = provisioned.body
  await victim.asOwner.ask('PUT', `${users}/${user_id}/credentials/SHOP`, { value: 'hidden' })
  t.match(await mallory.invite(email, { name: 'Somebody' }), {
    status: 201,
    body: { user_id, email, name: 'Somebody' },
  })
  const blank = 'owner-less@example.com'
  await victim.invite(blank, { name: 'Debtor' })
  t.match(await mallory.provision(blank), { status: 200 })

  /** All that an organization can read of its people. */
  const seen = async ({ at, asOwner }: typeof mallory) => {
    const lines = { headers: { accept: 'application/x-ndjson' } }
    const replies = [
      await asOwner.ask('GET', `${at}/members`),
      await asOwner.ask('GET', users),
      await asOwner.ask('GET', `${users}?email=${blank}`),
      await asOwner.ask('GET', `${at}/feeds/members`, undefined, lines),
      await asOwner.ask('GET', `${at}/audit/state?view=members`),
      await asOwner.ask('GET', `${at}/audit/events?limit=500`),
    ]
    for (const { status } of replies) t.equal(status, 200)
    return JSON.stringify(replies.map(({ body }) => body))
  }
  const pending = await seen(mallory)
  t.match(pending, 'Somebody')
  t.match(pending, 'owner-less', 'the name that nobody gave is that of the address')
  t.notMatch(pending, /Patient|Debtor|hidden/)
  await signIn(email, { accept: [{ organization_id: mallory.organizationId }] })
  const joined = await seen(mallory)
  t.match(joined, 'Somebody')
  t.notMatch(joined, /Patient|Debtor|hidden/, 'nor once she is a member')
  t.notMatch(joined, victim.organizationId)
  t.match(await seen(victim), 'Patient of Dr. Who')
  t.notMatch(await seen(victim), /Somebody/)
  t.notMatch(await seen(victim), mallory.organizationId)
})

t.test('actions of a person on another organization are only in that one’s history', async (t) => {
  const { server, mallory, victim } = await scene(t)
  const owner = victim.email
  await mallory.invite(owner)
  const path = `${memberships}/${mallory.organizationId}`
  const own = client(server.url, victim.asOwner.key)
  await own.ask('POST', `${path}/accept`, { current: true })
  const home = { 'x-organization-id': victim.organizationId }
  const history = await own.ask('GET', `${victim.at}/audit/events?limit=500`, undefined, {
    headers: home,
  })
  t.equal(history.status, 200)
  t.notMatch(JSON.stringify(history.body), mallory.organizationId)
})
