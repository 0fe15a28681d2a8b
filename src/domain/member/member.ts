import { type Aggregate, streamOf } from '../aggregate.ts'
import { refusal } from '../refusal.ts'
import { type MemberEvent, type MemberRole, memberEvents } from './events.ts'

export type Member = {
  status: 'none' | 'pending' | 'active' | 'removed'
  role: MemberRole | null
  /** A partner's key added the account, and acts for it. */
  provisioned: boolean
}

export const member: Aggregate<Member, typeof memberEvents> = {
  category: 'member',
  events: memberEvents,
  initial: { status: 'none', role: null, provisioned: false },
  stateVersion: 2,
  evolve: {
    MemberAdded: (_, { role, status, provisioned = false }) => ({ role, status, provisioned }),
    MemberActivated: (state) => ({ ...state, status: 'active' }),
    MemberRoleChanged: (state, { role }) => ({ ...state, role }),
    MemberRemoved: () => ({ status: 'removed', role: null, provisioned: false }),
  },
}

export const memberStream = (organizationId: string, userId: string) =>
  streamOf(member, organizationId, userId)

/** Whoever changes a membership: only owners and the platform decide about ownership. */
export type By = { asOwner: boolean }

const isPresent = ({ status }: Member): boolean => status === 'pending' || status === 'active'

const present = (state: Member): void => {
  if (!isPresent(state)) throw refusal('member_not_found')
}

/** @throws member_exists */
export const decideAdd =
  (data: MemberEvent<'MemberAdded'>['data']) =>
  (state: Member): MemberEvent<'MemberAdded'>[] => {
    if (isPresent(state)) throw refusal('member_exists')
    return [{ type: 'MemberAdded', data }]
  }

/** A partner adds an account as a pending member; one that is a member already stays what it is. */
export const decideProvision = (state: Member): MemberEvent<'MemberAdded'>[] =>
  isPresent(state)
    ? []
    : [{ type: 'MemberAdded', data: { role: 'MEMBER', status: 'pending', provisioned: true } }]

/** Whose credentials and sessions a partner manages. @throws user_not_found, not_provisioned */
export const requireProvisioned = (state: Member): [] => {
  if (!isPresent(state)) throw refusal('user_not_found')
  if (!state.provisioned) throw refusal('not_provisioned')
  return []
}

/** Makes sure of a founding owner: nothing when the person was ever a member. */
export const decideFound = ({ status }: Member): MemberEvent<'MemberAdded'>[] =>
  status === 'none' ? [{ type: 'MemberAdded', data: { role: 'OWNER', status: 'active' } }] : []

/** A pending membership becomes active; any other stays what it is. */
export const decideActivate = ({ status }: Member): MemberEvent<'MemberActivated'>[] =>
  status === 'pending' ? [{ type: 'MemberActivated', data: {} }] : []

/** @throws member_not_found, owner_required, member_pending */
export const decideChangeRole =
  (role: MemberRole, { asOwner }: By) =>
  (state: Member): MemberEvent<'MemberRoleChanged'>[] => {
    present(state)
    if (state.role === role) return []
    if (!asOwner && (role === 'OWNER' || state.role === 'OWNER')) throw refusal('owner_required')
    if (role === 'OWNER' && state.status === 'pending') throw refusal('member_pending')
    return [{ type: 'MemberRoleChanged', data: { role } }]
  }

/** @throws member_not_found, owner_required */
export const decideRemove =
  ({ asOwner }: By) =>
  (state: Member): MemberEvent<'MemberRemoved'>[] => {
    present(state)
    if (state.role === 'OWNER' && !asOwner) throw refusal('owner_required')
    return [{ type: 'MemberRemoved', data: {} }]
  }

/**
 * Whether a key may act as this member. An admin cannot make a key that acts as an owner.
 * @throws member_not_found, member_pending, owner_required
 */
export const requireBacking =
  ({ asOwner }: By) =>
  (state: Member): [] => {
    present(state)
    if (state.status === 'pending') throw refusal('member_pending')
    if (state.role === 'OWNER' && !asOwner) throw refusal('owner_required')
    return []
  }
