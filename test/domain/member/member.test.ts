import t from 'tap'
import type { MemberEvent, MemberRole } from '../../../src/domain/member/events.ts'
import {
  decideActivate,
  decideAdd,
  decideChangeRole,
  decideFound,
  decideProvision,
  decideRemove,
  member,
  requireBacking,
  requireProvisioned,
} from '../../../src/domain/member/member.ts'
import { deciding } from '../../support/given.ts'

const added = (role: MemberRole, status: 'pending' | 'active' = 'active'): MemberEvent => ({
  type: 'MemberAdded',
  data: { role, status },
})
const activated: MemberEvent = { type: 'MemberActivated', data: {} }
const removed: MemberEvent = { type: 'MemberRemoved', data: {} }
const changedTo = (role: MemberRole): MemberEvent => ({ type: 'MemberRoleChanged', data: { role } })
const owner = { asOwner: true }
const admin = { asOwner: false }

t.test('adding', async (t) => {
  const given = deciding(t, member)
  const add = decideAdd({ role: 'MEMBER', status: 'pending' })
  given().when(add).emitsOnce(added('MEMBER', 'pending'))
  given(added('MEMBER'), removed).when(add).emitsOnce(added('MEMBER', 'pending'))
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

t.test('backing a key', async (t) => {
  const given = deciding(t, member)
  given(added('ADMIN')).when(requireBacking(admin)).changesNothing()
  given(added('OWNER')).when(requireBacking(owner)).changesNothing()
  given(added('OWNER')).when(requireBacking(admin)).refuses('owner_required')
  given(added('MEMBER', 'pending')).when(requireBacking(owner)).refuses('member_pending')
  given().when(requireBacking(owner)).refuses('member_not_found')
})

t.test('provisioning', async (t) => {
  const given = deciding(t, member)
  const provisioned: MemberEvent = {
    type: 'MemberAdded',
    data: { role: 'MEMBER', status: 'pending', provisioned: true },
  }
  given().when(decideProvision).emitsOnce(provisioned)
  given(provisioned, removed).when(decideProvision).emitsOnce(provisioned)
  given(provisioned, activated).when(decideProvision).changesNothing()
  given(added('ADMIN')).when(decideProvision).changesNothing()
  given(provisioned, activated).when(requireProvisioned).changesNothing()
  given(added('MEMBER')).when(requireProvisioned).refuses('not_provisioned')
  given(provisioned, removed, added('MEMBER')).when(requireProvisioned).refuses('not_provisioned')
  given(provisioned, removed).when(requireProvisioned).refuses('user_not_found')
  given().when(requireProvisioned).refuses('user_not_found')
})
