import t from 'tap'
import { commanding } from '../support/commanding.ts'

const { colorOrganization, appendedOnce, organization } = await commanding(t)

t.test('a color', async (t) => {
  const { by, organizationId } = await organization()
  const color = '#0b6e4f'
  const events = await appendedOnce(t, (call) => colorOrganization({ color }, call), by)
  const stream = `organization-${organizationId}_${organizationId}`
  t.strictSame(events, [{ type: 'OrganizationColored', data: { color }, stream }])
  const nowhere = { ...by, organizationId: 'nowhere' }
  await t.rejects(colorOrganization({ color }, nowhere), { code: 'organization_not_found' })
})
