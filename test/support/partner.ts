import type { StartedApp } from './server.ts'

const users = '/api/external/management/users'

type Owner = { name: string; email: string }

/** Creates an organization on the Pro plan, with a user key of its owner, Olga. */
const createOrganization = async ({ clientOf, asPlatform }: StartedApp, { name, email }: Owner) => {
  const created = await asPlatform('POST', '/api/admin/organizations', {
    name,
    owner: { email, name: 'Olga' },
    plan: 'pro_monthly',
    credits: 10,
  })
  const at = `/api/admin/organizations/${created.body.organization_id}`
  const key = await asPlatform('POST', `${at}/api-keys`, { name: 'Own', type: 'user' })
  return { created, at, owner: clientOf(key.body.key) }
}

/** An organization on the Pro plan, and its owner's user key. */
export const withOrganization = async (app: StartedApp) => {
  const organization = await createOrganization(app, { name: 'Acme', email: 'owner@example.com' })
  const { organization_id, owner_user_id } = organization.created.body
  return { ...organization, organization_id, owner_user_id }
}

/** An organization that provisions users. */
export const partner = async (app: StartedApp, name = 'owner') => {
  const { clientOf, asPlatform: platform } = app
  const email = `${name}@example.com`
  const { created, at, owner } = await createOrganization(app, { name: 'Partner', email })
  const { organization_id, owner_user_id, orchestrator_agent_id } = created.body
  /** What an organization key with these scopes asks. */
  const key = async (...scopes: string[]) => {
    const created = await platform('POST', `${at}/api-keys`, { name: 'Partner', scopes })
    return clientOf(created.body.key)
  }
  const provisions = await key('users:provision')
  return {
    at,
    organization_id,
    owner_user_id,
    orchestrator_agent_id,
    /** The owner's user key. */
    owner,
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
