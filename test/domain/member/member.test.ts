import t from 'tap'
import type { MemberEvent, MemberRole } from '../../../src/domain/member/events.ts'
import {
  decideAccept,
  decideActivate,
  decideAdd,
  decideChangeRole,
  decideDecline,
  decideErasePersonalData,
  decideFound,
  decideProvision,
  decideRemove,
  decideTellAccountChange,
  member,
  requireActive,
  requireBacking,
  requireErasable,
  requireProvisioned,
} from '../../../src/domain/member/member.ts'
import { deciding } from '../../support/given.ts'
import { at } from '../../support/positions.ts'

const added = (role: MemberRole, status: 'pending' | 'active' = 'active'): MemberEvent => ({
  type: 'MemberAdded',
  data: { role, status },
})
const activated: MemberEvent = { type: 'MemberActivated', data: {} }
const allowed: MemberEvent = { type: 'BackingAllowed', data: {} }
const declined: MemberEvent = { type: 'InvitationDeclined', data: {} }
const removed: MemberEvent = { type: 'MemberRemoved', data: {} }
const changedTo = (role: MemberRole): MemberEvent => ({ type: 'MemberRoleChanged', data: { role } })
const asActive = (state: Parameters<typeof requireActive>[0]): [] => {
  requireActive(state)
  return []
}
const owner = { asOwner: true }
const admin = { asOwner: false }

t.test('adding', async (t) => {
  const given = deciding(t, member)
  const add = decideAdd({ role: 'MEMBER', status: 'pending' })
  given().when(add).emitsOnce(added('MEMBER', 'pending'))
  given(added('MEMBER', 'pending'), removed).when(add).emitsOnce(added('MEMBER', 'pending'))
  given(added('MEMBER', 'pending')).when(add).refuses('member_exists')
  given(added('ADMIN')).when(add).refuses('member_exists')
})

t.test('founding', async (t) => {
  const given = deciding(t, member)
  given().when(decideFound).emitsOnce(added('OWNER'))
  given(added('OWNER'), removed).when(decideFound).changesNothing()
})

t.test('activating', async (t) => {
  const given = deciding(t, member)
  given(added('MEMBER', 'pending')).when(decideActivate).emitsOnce(activated)
  given(added('MEMBER', 'pending'), removed).when(decideActivate).changesNothing()
  given().when(decideActivate).changesNothing()
})

t.test('changing a role', async (t) => {
  const given = deciding(t, member)
  given(added('MEMBER')).when(decideChangeRole('ADMIN', admin)).emitsOnce(changedTo('ADMIN'))
  given(added('ADMIN')).when(decideChangeRole('OWNER', owner)).emitsOnce(changedTo('OWNER'))
  given(added('ADMIN')).when(decideChangeRole('OWNER', admin)).refuses('owner_required')
  given(added('OWNER')).when(decideChangeRole('ADMIN', admin)).refuses('owner_required')
  given(added('ADMIN', 'pending')).when(decideChangeRole('OWNER', owner)).refuses('member_pending')
  given(added('ADMIN'), removed).when(decideChangeRole('ADMIN', owner)).refuses('member_not_found')
  given().when(decideChangeRole('ADMIN', owner)).refuses('member_not_found')
})

t.test('removing', async (t) => {
  const given = deciding(t, member)
  given(added('MEMBER', 'pending')).when(decideRemove(admin)).emitsOnce(removed)
  given(added('OWNER')).when(decideRemove(owner)).emitsOnce(removed)
  given(added('OWNER')).when(decideRemove(admin)).refuses('owner_required')
  given(added('MEMBER'), removed).when(decideRemove(owner)).refuses('member_not_found')
})

t.test('accepting and declining', async (t) => {
  const given = deciding(t, member)
  const invited = added('MEMBER', 'pending')
  const accept = decideAccept({ allowBacking: false })
  const agree = decideAccept({ allowBacking: true })
  given(invited).when(accept).emitsOnce(activated)
  given(invited).when(agree).emitsOnce(activated, allowed)
  given(invited, activated).when(agree).emitsOnce(allowed)
  given(invited, activated, allowed).when(accept).changesNothing()
  given(invited).when(decideDecline).emitsOnce(declined)
  given(invited, activated).when(decideDecline).refuses('invitation_not_found')
  for (const history of [[], [invited, declined], [invited, removed]]) {
    given(...history)
      .when(agree)
      .refuses('invitation_not_found')
    given(...history)
      .when(decideDecline)
      .refuses('invitation_not_found')
  }
  const again = decideAdd({ role: 'MEMBER', status: 'pending' })
  given(invited, declined).when(again).emitsOnce(invited)
  given(invited, activated).when(asActive).changesNothing()
  given(invited).when(asActive).refuses('member_not_found')
})

t.test('telling what the platform did to the account', async (t) => {
  const given = deciding(t, member)
  const changed = (position: number): MemberEvent<'MemberAccountChanged'> => ({
    type: 'MemberAccountChanged',
    data: {
      change: { kind: 'credits', amount: -1 },
      eventId: `event-${position}`,
      position: at(position),
      at: '2026-01-01T00:00:00.000Z',
    },
  })
  const accountChange = (position: number) => decideTellAccountChange(changed(position).data)
  given(added('MEMBER')).when(accountChange(7)).emitsOnce(changed(7))
  given(added('MEMBER'), changed(7)).when(accountChange(8)).emitsOnce(changed(8))
  given(added('MEMBER'), changed(7), changed(8)).when(accountChange(7)).changesNothing()
  given(added('MEMBER'), removed).when(accountChange(7)).emitsOnce(changed(7))
  for (const again of [[removed], [removed, added('MEMBER', 'pending'), declined]])
    given(added('MEMBER'), changed(7), ...again, added('MEMBER'))
      .when(accountChange(7))
      .changesNothing()
  given().when(accountChange(7)).changesNothing()
  const pending = added('MEMBER', 'pending')
  given(pending, changed(7)).when(asActive).refuses('member_not_found')
})

t.test('backing a key', async (t) => {
  const given = deciding(t, member)
  const other = { own: false, platform: false, createdHere: false }
  const byAdmin = requireBacking({ ...admin, ...other })
  const byOwner = requireBacking({ ...owner, ...other })
  const own = requireBacking({ ...admin, ...other, own: true })
  const byPlatform = requireBacking({ ...owner, ...other, platform: true })
  const byProvider = requireBacking({ ...admin, ...other, createdHere: true })
  for (const by of [own, byPlatform, byProvider]) {
    given(added('ADMIN')).when(by).changesNothing()
    given(added('MEMBER', 'pending')).when(by).refuses('member_pending')
    given().when(by).refuses('member_not_found')
  }
  for (const by of [byAdmin, byOwner]) {
    given(added('ADMIN')).when(by).refuses('backing_not_allowed')
    given(added('ADMIN'), allowed).when(by).changesNothing()
    given(added('ADMIN'), allowed, removed, added('ADMIN')).when(by).refuses('backing_not_allowed')
  }
  given(added('OWNER'), allowed).when(byAdmin).refuses('owner_required')
  given(added('OWNER'), allowed).when(byOwner).changesNothing()
  given(added('OWNER')).when(own).changesNothing()
})

t.test('provisioning', async (t) => {
  const given = deciding(t, member)
  const provisioned: MemberEvent = {
    type: 'MemberAdded',
    data: { role: 'MEMBER', status: 'pending', provisioned: true },
  }
  given().when(decideProvision({})).emitsOnce(provisioned)
  given(provisioned, removed).when(decideProvision({})).emitsOnce(provisioned)
  given(provisioned, activated).when(decideProvision({})).changesNothing()
  given(added('ADMIN')).when(decideProvision({})).changesNothing()
  given(provisioned, activated).when(requireProvisioned).changesNothing()
  given(added('MEMBER')).when(requireProvisioned).refuses('not_provisioned')
  given(provisioned, removed, added('MEMBER')).when(requireProvisioned).refuses('not_provisioned')
  given(provisioned, removed).when(requireProvisioned).refuses('user_not_found')
  given().when(requireProvisioned).refuses('user_not_found')
})

t.test('who is added again had joined before', async (t) => {
  const given = deciding(t, member)
  const data = { role: 'MEMBER', status: 'pending' } as const
  const again: MemberEvent = { type: 'MemberAdded', data: { ...data, again: true } }
  const joined = [added('MEMBER', 'pending'), activated, removed]
  given(...joined)
    .when(decideAdd(data))
    .emitsOnce(again)
  given(added('OWNER'), removed).when(decideAdd(data)).emitsOnce(again)
  given(...joined, again, removed)
    .when(decideAdd(data))
    .emitsOnce(again)
  given(...joined)
    .when(decideProvision({}))
    .emitsOnce({ type: 'MemberAdded', data: { ...data, provisioned: true, again: true } })
  given(added('MEMBER', 'pending'), declined)
    .when(decideAdd(data))
    .emitsOnce(added('MEMBER', 'pending'))
})

t.test('erasable are provisioned users and former members', async (t) => {
  const given = deciding(t, member)
  const pending = { role: 'MEMBER', status: 'pending' } as const
  const provisioned: MemberEvent = { type: 'MemberAdded', data: { ...pending, provisioned: true } }
  given(provisioned).when(requireErasable).changesNothing()
  given(provisioned, removed).when(requireErasable).changesNothing()
  given(added('MEMBER'), removed).when(requireErasable).changesNothing()
  given(added('MEMBER')).when(requireErasable).refuses('not_provisioned')
  given(added('MEMBER'), removed, added('MEMBER')).when(requireErasable).refuses('not_provisioned')
  given().when(requireErasable).refuses('user_not_found')
})

t.test('one certificate has all that was erased of a person', async (t) => {
  const given = deciding(t, member)
  const keyId = 'member:org-1/user-1'
  const sealed = { $sealed: keyId, box: 'b' }
  const invited: MemberEvent = {
    type: 'MemberAdded',
    data: { role: 'MEMBER', status: 'pending', email: sealed, name: sealed },
  }
  const by = { deletedBy: 'user-9', delegated: true, destroyedAt: '2026-01-01T00:00:05.000Z' }
  const invitation = { ...by, keyIds: [keyId], generation: 0 }
  const memories = {
    ...by,
    scope: ['memories' as const],
    memories: 2,
    credentials: 0,
    keyIds: ['memory:org-1/user-1'],
  }
  const erased: MemberEvent = {
    type: 'PersonalDataErased',
    data: {
      ...memories,
      scope: ['memories', 'invitation'],
      keyIds: ['memory:org-1/user-1', keyId],
    },
  }
  const onlyMemories: MemberEvent = { type: 'PersonalDataErased', data: memories }
  given(invited)
    .when(decideErasePersonalData([memories], invitation))
    .emits(erased)
  given(invited)
    .when(decideErasePersonalData([memories], undefined))
    .emits(onlyMemories)
  given(invited).when(decideErasePersonalData([], undefined)).changesNothing()
  given(invited, erased).when(decideErasePersonalData([], invitation)).changesNothing()
  given(invited, erased, removed, invited)
    .when(decideErasePersonalData([memories], invitation))
    .emits(onlyMemories)
})
