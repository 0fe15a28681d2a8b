import t from 'tap'
import { commanding } from '../support/commanding.ts'

const { renameOrganization, appendedOnce, organization } = await commanding(t)

t.test('another name', async (t) => {
  const { by, organizationId } = await organization()
  const events = await appendedOnce(t, (call) => renameOrganization({ name: 'Neu' }, call), by)
  const stream = `organization-${organizationId}_${organizationId}`
  t.strictSame(events, [{ type: 'OrganizationRenamed', data: { name: 'Neu' }, stream }])
  const nowhere = { ...by, organizationId: 'nowhere' }
  await t.rejects(renameOrganization({ name: 'Neu' }, nowhere), {
    code: 'organization_not_found',
  })
})
