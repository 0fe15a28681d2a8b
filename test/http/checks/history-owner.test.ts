import type { FastifyRequest } from 'fastify'
import t from 'tap'
import type { GetOrganization } from '../../../queries/get-organization.ts'
import { refusal } from '../../../src/domain/refusal.ts'
import { organizationHistory, platformHistory } from '../../../src/http/checks/history-owner.ts'
import { call } from '../../support/recorded.ts'

const requestFor = (organization_id: string, access: object) =>
  ({ params: { organization_id }, access, call }) as unknown as FastifyRequest

const getOrganization = (async (organizationId: string) => {
  if (organizationId !== 'org-1') throw refusal('organization_not_found')
}) as unknown as GetOrganization
const history = organizationHistory({ getOrganization })
const platform = { kind: 'platform' }

t.test('an organization’s history is for its managers and the platform', async (t) => {
  t.strictSame(history.rules, { scopes: ['admin:read'], managers: true })
  t.equal(history.at, '/organizations/:organization_id/audit')
  t.equal(history.summary('Lists events'), 'Lists events')
  const own = { kind: 'user', organizationId: 'org-1' }
  t.equal(await history.of(requestFor('org-1', own)), 'org-1')
  t.equal(await history.of(requestFor('org-1', platform)), 'org-1')
})

t.test('a key of another organization is refused: organization_access_denied', async (t) => {
  const other = { kind: 'user', organizationId: 'org-2' }
  await t.rejects(history.of(requestFor('org-1', other)), { code: 'organization_access_denied' })
})

t.test('an unknown organization is refused: organization_not_found', async (t) => {
  await t.rejects(history.of(requestFor('org-9', platform)), { code: 'organization_not_found' })
})

t.test('declares its refusals: role_required and organization_not_found', async (t) => {
  t.strictSame(history.refused, ['role_required', 'organization_not_found'])
})

t.test('the platform’s own history is for its key alone, and says so', async (t) => {
  t.strictSame(platformHistory.rules, { platform: true })
  t.strictSame(platformHistory.refused, ['platform_only'])
  t.equal(platformHistory.at, '/platform/audit')
  t.equal(platformHistory.summary('Lists events'), 'Lists events (the platform’s own history)')
  t.equal(await platformHistory.of(requestFor('', platform)), 'platform')
})
