import { type Aggregate, streamOf } from '../aggregate.ts'
import {
  afterErasure,
  type Destroyed,
  type Erasure,
  inUse,
  isDestroyed,
  type KeyUse,
  ofKey,
  together,
  unused,
} from '../erasure.ts'
import { refusal } from '../refusal.ts'
import { type MemberEvent, type MemberRole, memberEvents } from './events.ts'

export type Member = {
  status: 'none' | 'pending' | 'active' | 'removed'
  role: MemberRole | null
  /** A partner's key of this organization added the account, and acts for it. */
  addedByPartner: boolean
  /** The person agreed that others make keys that she backs. */
  allowsBacking: boolean
  /** The person joined, in this membership or an earlier one. */
  hasJoined: boolean
  /** The position of the last change of the account that this stream records. */
  lastAccountChange: number
  /** Of the address and name that the organization invited the person with. */
  key: KeyUse
}

const none: Member = {
  status: 'none',
  role: null,
  addedByPartner: false,
  allowsBacking: false,
  hasJoined: false,
  lastAccountChange: -1,
  key: unused,
}

/** What concerns no single membership stays, also after the person is added again. */
const afterRemoval = ({ hasJoined, lastAccountChange, key }: Member): Member => ({
  ...none,
  status: 'removed',
  hasJoined,
  lastAccountChange,
  key,
})

export const member: Aggregate<Member, typeof memberEvents> = {
  category: 'member',
  events: memberEvents,
  initial: none,
  stateVersion: 6,
  evolve: {
    MemberAdded: (state, { role, status, provisioned = false, email, name }) => ({
      ...state,
      role,
      status,
      addedByPartner: provisioned,
      allowsBacking: false,
      hasJoined: state.hasJoined || status === 'active',
      key: email || name ? inUse(state.key) : state.key,
    }),
    MemberActivated: (state) => ({ ...state, status: 'active', hasJoined: true }),
    MemberRoleChanged: (state, { role }) => ({ ...state, role }),
    BackingAllowed: (state) => ({ ...state, allowsBacking: true }),
    MemberAccountChanged: (state, { position }) => ({ ...state, lastAccountChange: position }),
    InvitationDeclined: afterRemoval,
    MemberRemoved: afterRemoval,
    PersonalDataErased: (state, { scope }) =>
      scope.includes('invitation') ? { ...state, key: afterErasure(state.key) } : state,
  },
}

export const memberStream = (organizationId: string, userId: string) =>
  streamOf(member, organizationId, userId)

/** Whoever changes a membership: only owners and the platform decide about ownership. */
export type By = { asOwner: boolean }

/** Whether somebody is a member, or invited to be one. */
export const isPresent = ({ status }: Member): boolean =>
  status === 'pending' || status === 'active'

/** @throws member_not_found */
const requirePresent = (state: Member): void => {
  if (!isPresent(state)) throw refusal('member_not_found')
}

const again = ({ hasJoined }: Member): { again?: true } => (hasJoined ? { again: true } : {})

/** @throws member_exists */
export const requireNoMember = (state: Member): void => {
  if (isPresent(state)) throw refusal('member_exists')
}

/** @throws member_exists */
export const decideAdd =
  (data: MemberEvent<'MemberAdded'>['data']) =>
  (state: Member): MemberEvent<'MemberAdded'>[] => {
    requireNoMember(state)
    return [{ type: 'MemberAdded', data: { ...data, ...again(state) } }]
  }

type InvitedWith = Pick<MemberEvent<'MemberAdded'>['data'], 'email' | 'name'>

/** A partner adds an account as a pending member; one that is a member already stays what it is. */
export const decideProvision =
  (invitedWith: InvitedWith) =>
  (state: Member): MemberEvent<'MemberAdded'>[] => {
    const data = { role: 'MEMBER', status: 'pending', provisioned: true, ...invitedWith } as const
    return isPresent(state) ? [] : [{ type: 'MemberAdded', data: { ...data, ...again(state) } }]
  }

/** Whose credentials and sessions a partner manages. @throws user_not_found, not_provisioned */
export const requireProvisioned = (state: Member): [] => {
  if (!isPresent(state)) throw refusal('user_not_found')
  if (!state.addedByPartner) throw refusal('not_provisioned')
  return []
}

/**
 * Whose conversations and personal data the organization erases: users whom its partner added, and
 * whoever was its member and is no longer. @throws user_not_found, not_provisioned
 */
export const requireErasable = (state: Member): [] =>
  state.status === 'removed' ? [] : requireProvisioned(state)

/** Makes sure of a founding owner: nothing when the person was ever a member. */
export const decideFound = ({ status }: Member): MemberEvent<'MemberAdded'>[] =>
  status === 'none' ? [{ type: 'MemberAdded', data: { role: 'OWNER', status: 'active' } }] : []

/** A pending membership becomes active; any other stays what it is. */
export const decideActivate = ({ status }: Member): MemberEvent<'MemberActivated'>[] =>
  status === 'pending' ? [{ type: 'MemberActivated', data: {} }] : []

/**
 * The person accepts an invitation, and may agree to back keys that others make; a member may agree
 * later. @throws invitation_not_found
 */
export const decideAccept =
  ({ allowBacking }: { allowBacking: boolean }) =>
  (state: Member): MemberEvent<'MemberActivated' | 'BackingAllowed'>[] => {
    if (!isPresent(state)) throw refusal('invitation_not_found')
    const agrees = allowBacking && !state.allowsBacking
    return [
      ...decideActivate(state),
      ...(agrees ? [{ type: 'BackingAllowed', data: {} } as const] : []),
    ]
  }

/** The person does not join. @throws invitation_not_found for a member, too */
export const decideDecline = ({ status }: Member): MemberEvent<'InvitationDeclined'>[] => {
  if (status !== 'pending') throw refusal('invitation_not_found')
  return [{ type: 'InvitationDeclined', data: {} }]
}

/** Whether the person may make the organization the current one. @throws member_not_found */
export const requireActive = ({ status }: Member): void => {
  if (status !== 'active') throw refusal('member_not_found')
}

/** @throws member_not_found, owner_required, member_pending */
export const decideChangeRole =
  (role: MemberRole, { asOwner }: By) =>
  (state: Member): MemberEvent<'MemberRoleChanged'>[] => {
    requirePresent(state)
    if (state.role === role) return []
    if (!asOwner && (role === 'OWNER' || state.role === 'OWNER')) throw refusal('owner_required')
    if (role === 'OWNER' && state.status === 'pending') throw refusal('member_pending')
    return [{ type: 'MemberRoleChanged', data: { role } }]
  }

/** @throws member_not_found, owner_required */
export const decideRemove =
  ({ asOwner }: By) =>
  (state: Member): MemberEvent<'MemberRemoved'>[] => {
    requirePresent(state)
    if (state.role === 'OWNER' && !asOwner) throw refusal('owner_required')
    return [{ type: 'MemberRemoved', data: {} }]
  }

/**
 * Records a change of the person's account by the platform. Changes come in the order of the log:
 * those at or before the last recorded one are known. The person may have left since.
 */
export const decideTellAccountChange =
  (data: MemberEvent<'MemberAccountChanged'>['data']) =>
  ({ status, lastAccountChange }: Member): MemberEvent<'MemberAccountChanged'>[] =>
    status === 'none' || data.position <= lastAccountChange
      ? []
      : [{ type: 'MemberAccountChanged', data }]

/** Who makes a key that a member backs. */
export type Backer = By & {
  /** The member herself. */
  own: boolean
  platform: boolean
  /** The organization created the member's account. */
  createdHere: boolean
}

/**
 * Whether a key may act as this member, who pays for it. An admin cannot make a key that acts as an
 * owner. @throws member_not_found, member_pending, owner_required, backing_not_allowed
 */
export const requireBacking =
  ({ asOwner, own, platform, createdHere }: Backer) =>
  (state: Member): [] => {
    requirePresent(state)
    if (state.status === 'pending') throw refusal('member_pending')
    if (state.role === 'OWNER' && !asOwner && !own) throw refusal('owner_required')
    if (!own && !platform && !createdHere && !state.allowsBacking)
      throw refusal('backing_not_allowed')
    return []
  }

/**
 * Records what was erased of a person: the other parts, and the invitation where its key was
 * destroyed. Nothing where nothing was left to erase.
 */
export const decideErasePersonalData =
  (others: readonly Erasure[], invitation: Destroyed | undefined) =>
  ({ key }: Member): MemberEvent<'PersonalDataErased'>[] => {
    const parts =
      invitation && isDestroyed(key, invitation)
        ? [...others, ofKey('invitation', invitation)]
        : others
    const data = together(parts)
    return data ? [{ type: 'PersonalDataErased', data }] : []
  }
