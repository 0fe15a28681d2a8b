import t from 'tap'
import { evolved } from '../../../src/domain/aggregate.ts'
import type { UserEvent } from '../../../src/domain/user/events.ts'
import {
  decideEnter,
  decideEnterFirst,
  decideEraseAccount,
  decideInvite,
  decideInviteProvisioned,
  decideLinkIdentity,
  decideRegister,
  decideSettleInvitations,
  decideSubscribe,
  isOnlyOf,
  joinedBySigningIn,
  user,
} from '../../../src/domain/user/user.ts'
import { deciding } from '../../support/given.ts'

const data: UserEvent<'UserRegistered'>['data'] = {
  email: { $sealed: 'user:user-1', box: 'e' },
  emailHash: 'hash',
  name: { $sealed: 'user:user-1', box: 'n' },
  origin: 'provisioned',
  provisionedBy: 'org-1',
}
const registered: UserEvent = { type: 'UserRegistered', data }
const identity = { provider: 'google', subjectHash: 's-1' }
const linked: UserEvent = { type: 'IdentityLinked', data: identity }
const invited = (organizationId: string): UserEvent => ({
  type: 'UserInvited',
  data: { organizationId },
})
const entered = (organizationId: string): UserEvent => ({
  type: 'CurrentOrganizationChanged',
  data: { organizationId },
})
const settledFor = (...organizationIds: string[]): UserEvent => ({
  type: 'InvitationsSettled',
  data: { organizationIds },
})
const subscribed = (plan: string | null): UserEvent => ({
  type: 'SubscriptionChanged',
  data: { plan },
})

t.test('registering', async (t) => {
  const given = deciding(t, user)
  given().when(decideRegister(data)).emitsOnce(registered)
  given(registered)
    .when(decideRegister({ ...data, origin: 'owner' }))
    .changesNothing()
})

t.test('linking an identity', async (t) => {
  const given = deciding(t, user)
  const other = { ...identity, subjectHash: 's-2' }
  const elsewhere = { ...identity, provider: 'github' }
  given(registered).when(decideLinkIdentity(identity)).emitsOnce(linked)
  given(registered, linked).when(decideLinkIdentity(other)).refuses('identity_conflict')
  given(registered, linked)
    .when(decideLinkIdentity(elsewhere))
    .emitsOnce({ type: 'IdentityLinked', data: elsewhere })
  given().when(decideLinkIdentity(identity)).refuses('user_not_found')
})

t.test('inviting', async (t) => {
  const given = deciding(t, user)
  given(registered).when(decideInvite('org-1')).emitsOnce(invited('org-1'))
  given(registered, invited('org-1'), settledFor('org-1'))
    .when(decideInvite('org-1'))
    .emitsOnce(invited('org-1'))
  given().when(decideInvite('org-1')).refuses('user_not_found')
})

t.test('settling invitations', async (t) => {
  const given = deciding(t, user)
  const history = [registered, invited('org-1'), invited('org-2')]
  given(...history)
    .when(decideSettleInvitations(['org-1']))
    .emitsOnce(settledFor('org-1'))
  given(...history)
    .when(decideSettleInvitations(['org-2', 'org-9']))
    .emitsOnce(settledFor('org-2'))
  given(registered)
    .when(decideSettleInvitations(['org-1']))
    .changesNothing()
})

t.test('what is joined by signing in', async (t) => {
  const joins = (history: readonly UserEvent[], accepted: readonly string[] = []) =>
    joinedBySigningIn(evolved(user, user.initial, history), accepted)
  const invitedTwice = [registered, invited('org-2'), invited('org-1')]
  t.strictSame(joins(invitedTwice), ['org-1'], 'the organization that provisioned the account')
  t.strictSame(joins([...invitedTwice, linked]), ['org-1'], 'also where a crash cut that short')
  t.strictSame(joins(invitedTwice, ['org-2', 'org-9']), ['org-2', 'org-1'], 'what is accepted')
  t.strictSame(joins([...invitedTwice, linked, settledFor('org-1')]), [])
  const later = [registered, invited('org-1'), linked, settledFor('org-1'), invited('org-1')]
  t.strictSame(joins(later), [], 'an invitation after the first sign-in')
  t.strictSame(joins([registered, linked, invited('org-1')]), [])
  const self: UserEvent = {
    type: 'UserRegistered',
    data: { ...data, origin: 'member', provisionedBy: undefined },
  }
  t.strictSame(joins([self, invited('org-1')]), [], 'no organization provisioned the account')
})

t.test('entering an organization', async (t) => {
  const given = deciding(t, user)
  given(registered, entered('org-2')).when(decideEnter('org-1')).emitsOnce(entered('org-1'))
  given(registered, entered('org-1')).when(decideEnter('org-1')).changesNothing()
})

t.test('the first organization becomes the current one', async (t) => {
  const given = deciding(t, user)
  given(registered).when(decideEnterFirst('org-1')).emitsOnce(entered('org-1'))
  given(registered, entered('org-2')).when(decideEnterFirst('org-1')).changesNothing()
})

t.test('subscribing', async (t) => {
  const given = deciding(t, user)
  given(registered).when(decideSubscribe('pro_monthly')).emitsOnce(subscribed('pro_monthly'))
  given(registered).when(decideSubscribe(null)).changesNothing()
  given(registered, subscribed('pro_monthly'))
    .when(decideSubscribe(null))
    .emitsOnce(subscribed(null))
  given().when(decideSubscribe('pro_monthly')).refuses('user_not_found')
  given(registered).when(decideSubscribe('gold_monthly')).refuses('invalid_input')
})

t.test('an invitation by a partner', async (t) => {
  const given = deciding(t, user)
  const invite = decideInviteProvisioned('org-2')
  const came = (origin: UserEvent<'UserRegistered'>['data']['origin']): UserEvent => ({
    type: 'UserRegistered',
    data: { ...data, origin },
  })
  given(registered).when(invite).emitsOnce(invited('org-2'))
  given(came('member')).when(invite).emitsOnce(invited('org-2'))
  given(registered, linked).when(invite).refuses('account_not_provisionable')
  given(came('owner')).when(invite).refuses('account_not_provisionable')
  given(came('self')).when(invite).refuses('account_not_provisionable')
  given().when(invite).refuses('user_not_found')
})

t.test('names of identity providers are data', async (t) => {
  const given = deciding(t, user)
  for (const provider of ['__proto__', 'constructor', 'toString', 'hasOwnProperty']) {
    const identity = { provider, subjectHash: 's-1' }
    const event: UserEvent = { type: 'IdentityLinked', data: identity }
    given(registered).when(decideLinkIdentity(identity)).emitsOnce(event)
    given(registered, event)
      .when(decideLinkIdentity({ provider, subjectHash: 's-2' }))
      .refuses('identity_conflict')
    given(registered, event)
      .when(decideInviteProvisioned('org-2'))
      .refuses('account_not_provisionable')
  }
})

t.test('an account is only of the organization that alone has to do with it', async (t) => {
  const only = (...events: UserEvent[]) =>
    isOnlyOf(evolved(user, user.initial, [registered, ...events]), 'org-1')
  t.ok(only())
  t.ok(only(invited('org-1')))
  t.ok(only(invited('org-2'), settledFor('org-2')))
  t.notOk(only(invited('org-2')))
  t.notOk(only(linked))
  t.notOk(only(entered('org-1')), 'a founder of an organization is shown as the account has her')
})

t.test('erases an account once', async (t) => {
  const given = deciding(t, user)
  const by = {
    deletedBy: 'user-9',
    delegated: true,
    keyIds: ['user:user-1'],
    destroyedAt: '2026-01-01T00:00:05.000Z',
  }
  const erase = decideEraseAccount({ ...by, generation: 0 })
  const erased: UserEvent = {
    type: 'AccountErased',
    data: { ...by, scope: ['account'], memories: 0, credentials: 0 },
  }
  given(registered).when(erase).emitsOnce(erased)
  given().when(erase).changesNothing()
})
