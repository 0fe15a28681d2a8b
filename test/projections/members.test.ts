import t from 'tap'
import { members } from '../../projections/members.ts'
import { handlesAll, projecting } from '../support/given.ts'

t.test('members', async (t) => {
  const seen = projecting(t, members, 'member-org-1_user-1')
  const added = { type: 'MemberAdded', data: { role: 'MEMBER', status: 'pending' } } as const
  seen(added, { type: 'MemberActivated', data: {} }).shows(
    { organization_id: 'org-1', user_id: 'user-1', role: 'MEMBER', status: 'active' },
    'org-1/user-1',
  )
  seen({ ...added, data: { ...added.data, provisioned: true } }).shows({ provisioned: true })
  seen(added, { type: 'MemberRoleChanged', data: { role: 'ADMIN' } }).shows({ role: 'ADMIN' })
  seen({ ...added, data: { ...added.data, again: true } }).shows({ again: true })
  seen(added, { type: 'BackingAllowed', data: {} }).shows({ allows_backing: true })
  seen(added, { type: 'InvitationDeclined', data: {} }).showsNothing('org-1/user-1')
  seen(added, { type: 'MemberRemoved', data: {} }).showsNothing('org-1/user-1')
})

t.test('every event it handles was given', async (t) => handlesAll(t, members))
