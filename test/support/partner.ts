import type { StartedApp } from './server.ts'

const users = '/api/external/management/users'

/** An organization on the Pro plan, and its owner's user key. */
export const withOrganization = async ({ asking, asPlatform: platform }: StartedApp) => {
  const created = await platform('POST', '/api/admin/organizations', {
    name: 'Acme',
    owner: { email: 'owner@example.com', name: 'Olga' },
    plan: 'pro_monthly',
    credits: 10,
  })
  const { organization_id, owner_user_id } = created.body
  const at = `/api/admin/organizations/${organization_id}`
  const key = await platform('POST', `${at}/api-keys`, { name: 'Own', type: 'user' })
  return { at, created, organization_id, owner_user_id, owner: asking(key.body.key) }
}

/** An organization that provisions users. */
export const partner = async (
  { asking: clientOf, asPlatform: platform }: StartedApp,
  name = 'owner',
) => {
  const created = await platform('POST', '/api/admin/organizations', {
    name: 'Partner',
    owner: { email: `${name}@example.com`, name: 'Olga' },
    plan: 'pro_monthly',
    credits: 10,
  })
  const { organization_id, owner_user_id, orchestrator_agent_id } = created.body
  const at = `/api/admin/organizations/${organization_id}`
  /** What an organization key with these scopes asks. */
  const key = async (...scopes: string[]) => {
    const created = await platform('POST', `${at}/api-keys`, { name: 'Partner', scopes })
    return clientOf(created.body.key)
  }
  const own = await platform('POST', `${at}/api-keys`, { name: 'Own', type: 'user' })
  const provisions = await key('users:provision')
  return {
    at,
    organization_id,
    owner_user_id,
    orchestrator_agent_id,
    /** The owner's user key. */
    owner: clientOf(own.body.key),
    key,
    /** What a member without a role of more asks with a user key of theirs. */
    async member(email: string, ...scopes: string[]) {
      const { user_id } = (await platform('POST', `${at}/members`, { email })).body
      const accept = [{ organization_id, allow_backing: true }]
      const login = { email, provider: 'test', subject: email, accept }
      await platform('POST', '/api/admin/identity/logins', login)
      const settings = { name: 'Theirs', type: 'user', user_id, scopes }
      return clientOf((await platform('POST', `${at}/api-keys`, settings)).body.key)
    },
    async provisioned(email: string) {
      const user = await provisions('POST', users, { email, organization_id })
      const user_id: string = user.body.user_id
      return { user_id, path: `${users}/${user_id}` }
    },
  }
}
