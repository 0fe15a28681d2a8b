import t from 'tap'
import { served, withOrganization } from '../../support/served.ts'

t.test('members', async (t) => {
  const all = await served(t)
  const { platform, asking } = all
  const { at, owner, owner_user_id, organization_id } = await withOrganization(all)
  const invited = await owner('POST', `${at}/members`, {
    email: ' Ann@Example.com ',
    role: 'ADMIN',
  })
  t.match(invited, {
    status: 201,
    body: { email: 'ann@example.com', name: 'ann', role: 'ADMIN', status: 'pending' },
  })
  const { user_id } = invited.body
  const ann = `${at}/members/${user_id}`
  t.match(await owner('POST', `${at}/members`, { email: 'ann@example.com' }), {
    status: 409,
    code: 'member_exists',
  })
  t.match(await owner('POST', `${at}/members`, { email: 'b@example.com', role: 'OWNER' }), {
    status: 400,
    body: { error: { param: 'role' } },
  })
  t.match(await owner('GET', `${at}/members`), {
    status: 200,
    body: {
      members: [
        { user_id: owner_user_id, email: 'owner@example.com', name: 'Olga', role: 'OWNER' },
        { user_id, status: 'pending' },
      ],
      total: 2,
    },
  })

  const signsIn = { email: 'ann@example.com', provider: 'google', subject: 's-1' }
  t.match(await platform('POST', '/api/admin/identity/logins', signsIn), {
    body: { activated_organization_ids: [], pending_organization_ids: [organization_id] },
  })
  const login = { ...signsIn, accept: [{ organization_id }] }
  t.match(await platform('POST', '/api/admin/identity/logins', login), {
    body: { activated_organization_ids: [organization_id] },
  })
  const made = await platform('POST', `${at}/api-keys`, { name: 'Ann', type: 'user', user_id })
  const asAnn = asking(made.body.key)
  t.match(await asAnn('GET', `${at}/members`), { status: 200, body: { total: 2 } })
  t.match(await asAnn('PATCH', ann, { role: 'OWNER' }), { status: 403, code: 'owner_required' })
  t.match(await asAnn('DELETE', `${at}/members/${owner_user_id}`), { code: 'owner_required' })
  t.match(await owner('DELETE', `${at}/members/${owner_user_id}`), {
    status: 409,
    code: 'last_owner',
  })
  t.match(await owner('PATCH', ann, { role: 'MEMBER' }), { status: 200, body: { role: 'MEMBER' } })
  t.match(await asAnn('GET', `${at}/members`), { status: 403, code: 'role_required' })
  t.match(await owner('DELETE', ann), { status: 204, body: undefined })
  t.match(await owner('DELETE', ann), { status: 404, code: 'member_not_found' })
  t.match(await asAnn('GET', '/api/me/api-keys'), { code: 'organization_access_denied' })
})

t.test('null for what is not said; ids that nobody has', async (t) => {
  const all = await served(t)
  const { platform } = all
  const { at, owner } = await withOrganization(all)
  const invited = { email: 'ann@example.com', name: null, role: null }
  t.match(await owner('POST', `${at}/members`, invited), {
    status: 201,
    body: { name: 'ann', role: 'MEMBER' },
  })
  const nobody = `${at}/members/nobody`
  t.match(await owner('PATCH', nobody, { role: 'ADMIN' }), {
    status: 404,
    code: 'member_not_found',
  })
  t.match(await owner('DELETE', nobody), { status: 404, code: 'member_not_found' })
  const nowhere = '/api/admin/organizations/nowhere'
  for (const path of [nowhere, `${nowhere}/members`, `${nowhere}/api-keys`, `${nowhere}/agents`]) {
    t.match(await owner('GET', path), { status: 403, code: 'organization_access_denied' })
    t.match(await platform('GET', path), { status: 404, code: 'organization_not_found' })
  }
  t.match(await platform('POST', `${nowhere}/members`, invited), { status: 404 })
  t.match(await platform('PUT', '/api/admin/users/nobody/subscription', { plan: null }), {
    status: 404,
    code: 'user_not_found',
  })
})
