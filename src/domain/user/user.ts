import { type Aggregate, platformStreamOf } from '../aggregate.ts'
import {
  afterErasure,
  type Destroyed,
  inUse,
  isDestroyed,
  type KeyUse,
  ofKey,
  unused,
} from '../erasure.ts'
import { isPlan } from '../plan.ts'
import { refusal } from '../refusal.ts'
import { type UserEvent, userEvents } from './events.ts'

export type User = {
  status: 'unknown' | 'registered'
  origin: UserEvent<'UserRegistered'>['data']['origin'] | null
  /** The keyed hash of the account's address. */
  emailHash: string | null
  /** The organization whose partner created the account; another one may have added it since. */
  createdBy: string | null
  /** One per identity provider; none: the person never signed in. */
  identities: readonly UserEvent<'IdentityLinked'>['data'][]
  /** Organizations whose membership is pending. */
  invitations: readonly string[]
  /** Whether the first sign-in makes the membership in the creating organization active. */
  joinsAtSignIn: boolean
  currentOrganizationId: string | null
  plan: string | null
  /** Of the account's address and name. */
  key: KeyUse
}

const hasSignedIn = ({ identities }: User): boolean => identities.length > 0

export const user: Aggregate<User, typeof userEvents> = {
  category: 'user',
  events: userEvents,
  stateVersion: 5,
  initial: {
    status: 'unknown',
    origin: null,
    emailHash: null,
    createdBy: null,
    identities: [],
    invitations: [],
    joinsAtSignIn: false,
    currentOrganizationId: null,
    plan: null,
    key: unused,
  },
  evolve: {
    UserRegistered: (state, { origin, emailHash, provisionedBy = null }) => ({
      ...state,
      status: 'registered',
      origin,
      emailHash,
      createdBy: provisionedBy,
      key: inUse(state.key),
    }),
    IdentityLinked: (state, identity) => ({
      ...state,
      identities: [...state.identities, identity],
    }),
    AddressChanged: (state, { emailHash }) => ({ ...state, emailHash, key: inUse(state.key) }),
    UserInvited: (state, { organizationId }) => ({
      ...state,
      invitations: [...state.invitations, organizationId],
      joinsAtSignIn:
        state.joinsAtSignIn || (organizationId === state.createdBy && !hasSignedIn(state)),
    }),
    InvitationsSettled: (state, { organizationIds }) => ({
      ...state,
      invitations: state.invitations.filter((id) => !organizationIds.includes(id)),
      joinsAtSignIn: state.joinsAtSignIn && !organizationIds.includes(state.createdBy ?? ''),
    }),
    CurrentOrganizationChanged: (state, { organizationId }) => ({
      ...state,
      currentOrganizationId: organizationId,
    }),
    SubscriptionChanged: (state, { plan }) => ({ ...state, plan }),
    AccountErased: (state) => ({ ...state, key: afterErasure(state.key) }),
  },
}

export const userStream = (userId: string) => platformStreamOf(user, userId)

/** @throws user_not_found */
export const requireUser = ({ status }: User): [] => {
  if (status === 'unknown') throw refusal('user_not_found', { message: 'User not found' })
  return []
}

/** An account is registered once; a second registration leaves it as it is. */
export const decideRegister =
  (data: UserEvent<'UserRegistered'>['data']) =>
  (state: User): UserEvent<'UserRegistered'>[] =>
    state.status === 'unknown' ? [{ type: 'UserRegistered', data }] : []

export type LinkedIdentity = UserEvent<'IdentityLinked'>['data']

export const hasIdentity = ({ identities }: User, identity: LinkedIdentity): boolean =>
  identities.some(
    ({ provider, subjectHash }) =>
      provider === identity.provider && subjectHash === identity.subjectHash,
  )

/**
 * Links an identity, once per provider. Another subject of a provider that is linked already is
 * somebody else who now has the address, and gets nothing. @throws user_not_found,
 * identity_conflict
 */
export const decideLinkIdentity =
  (identity: LinkedIdentity) =>
  (state: User): UserEvent<'IdentityLinked'>[] => {
    requireUser(state)
    const linked = state.identities.find(({ provider }) => provider === identity.provider)
    if (linked?.subjectHash === identity.subjectHash) return []
    if (linked) throw refusal('identity_conflict')
    return [{ type: 'IdentityLinked', data: identity }]
  }

/** Whether the account has this address, and a text of it that can be read. */
export const hasAddress = ({ emailHash, key }: User, hash: string): boolean =>
  emailHash === hash && key.inUse

/** The person signed in with another address. @throws user_not_found */
export const decideChangeAddress =
  (data: UserEvent<'AddressChanged'>['data']) =>
  (state: User): UserEvent<'AddressChanged'>[] => {
    requireUser(state)
    return hasAddress(state, data.emailHash) ? [] : [{ type: 'AddressChanged', data }]
  }

/** @throws user_not_found */
export const decideInvite =
  (organizationId: string) =>
  (state: User): UserEvent<'UserInvited'>[] => {
    requireUser(state)
    if (state.invitations.includes(organizationId)) return []
    return [{ type: 'UserInvited', data: { organizationId } }]
  }

/**
 * A partner's invitation. A partner cannot add an account whose person has signed in or founded an
 * organization. @throws user_not_found, account_not_provisionable
 */
export const decideInviteProvisioned =
  (organizationId: string) =>
  (state: User): UserEvent<'UserInvited'>[] => {
    const own = state.origin === 'self' || state.origin === 'owner'
    if (own || hasSignedIn(state)) throw refusal('account_not_provisionable')
    return decideInvite(organizationId)(state)
  }

/**
 * The organizations that a person joins by signing in: the one that created the account, at the
 * first sign-in, and those that she accepted.
 */
export const joinedBySigningIn = (
  { joinsAtSignIn, createdBy, invitations }: User,
  accepted: readonly string[],
): string[] =>
  invitations.filter((id) => accepted.includes(id) || (joinsAtSignIn && id === createdBy))

/** Forgets invitations that were taken up, declined or withdrawn. */
export const decideSettleInvitations =
  (settled: readonly string[]) =>
  ({ invitations }: User): UserEvent<'InvitationsSettled'>[] => {
    const organizationIds = settled.filter((id) => invitations.includes(id))
    return organizationIds.length > 0
      ? [{ type: 'InvitationsSettled', data: { organizationIds } }]
      : []
  }

/** An organization becomes the current one. */
export const decideEnter =
  (organizationId: string) =>
  ({ currentOrganizationId }: User): UserEvent<'CurrentOrganizationChanged'>[] =>
    currentOrganizationId === organizationId
      ? []
      : [{ type: 'CurrentOrganizationChanged', data: { organizationId } }]

/** An organization becomes the current one of a user who has none. */
export const decideEnterFirst =
  (organizationId: string) =>
  ({ currentOrganizationId }: User): UserEvent<'CurrentOrganizationChanged'>[] =>
    currentOrganizationId ? [] : [{ type: 'CurrentOrganizationChanged', data: { organizationId } }]

/** @throws user_not_found, invalid_input for a plan that there is not */
export const decideSubscribe =
  (plan: string | null) =>
  (state: User): UserEvent<'SubscriptionChanged'>[] => {
    requireUser(state)
    if (plan !== null && !isPlan(plan))
      throw refusal('invalid_input', { field: 'plan', message: `There is no plan ${plan}` })
    return state.plan === plan ? [] : [{ type: 'SubscriptionChanged', data: { plan } }]
  }

/**
 * Whether only this organization has to do with the account: nobody signed in to it, it founded
 * nothing, and no other organization invited it.
 */
export const isOnlyOf = (state: User, organizationId: string): boolean =>
  !hasSignedIn(state) &&
  state.currentOrganizationId === null &&
  state.invitations.every((id) => id === organizationId)

/** Erases the account's address and name. */
export const decideEraseAccount =
  (destroyed: Destroyed) =>
  ({ key }: User): UserEvent<'AccountErased'>[] =>
    isDestroyed(key, destroyed)
      ? [{ type: 'AccountErased', data: ofKey('account', destroyed) }]
      : []
