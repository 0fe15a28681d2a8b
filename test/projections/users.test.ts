import t from 'tap'
import { users } from '../../projections/users.ts'
import { userEvents } from '../../src/domain/user/events.ts'
import { sample } from '../support/events.ts'
import { handlesAll, projecting } from '../support/given.ts'

t.test('users', async (t) => {
  const seen = projecting(t, users, 'user-user-1')
  const data = userEvents.UserRegistered.parse(sample('UserRegistered').data)
  const registered = { type: 'UserRegistered', data } as const
  seen(registered).shows({
    user_id: 'user-1',
    email: data.email,
    email_hash: data.emailHash,
    origin: 'provisioned',
    provisioned_by: data.provisionedBy ?? '',
    signed_in: false,
    current_organization_id: null,
    plan: null,
  })
  seen(
    registered,
    { type: 'UserInvited', data: { organizationId: 'org-1' } },
    { type: 'IdentityLinked', data: { provider: 'google', subjectHash: 's' } },
    { type: 'CurrentOrganizationChanged', data: { organizationId: 'org-1' } },
    { type: 'SubscriptionChanged', data: { plan: 'pro_monthly' } },
  ).shows({ signed_in: true, current_organization_id: 'org-1', plan: 'pro_monthly' })
  const email = { $sealed: 'user:user-1', box: 'new' }
  seen(registered, { type: 'AddressChanged', data: { email, emailHash: 'new' } }).shows({
    email,
    email_hash: 'new',
  })
})

t.test('every event it handles was given', async (t) => handlesAll(t, users))
