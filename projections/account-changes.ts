import { z } from 'zod'
import { accountEvents } from '../src/domain/account/events.ts'
import { position } from '../src/domain/event.ts'
import { accountChange, memberEvents } from '../src/domain/member/events.ts'
import { userEvents } from '../src/domain/user/events.ts'
import type { RecordedEvent } from '../src/ports/event-store.ts'
import type { DocumentChange } from '../src/ports/views.ts'
import { id, timestamp } from './fields.ts'
import { idIn, type LogProjection, platformIdIn, type StoredFold } from './projection.ts'

/** A user's memberships. Its id is the user's. */
const membershipsView = z.object({
  user_id: id,
  /** The organizations of which the user is an active member. */
  organizations: z.array(id),
})
export type MembershipsView = z.infer<typeof membershipsView>

/** A change of an account by the platform that an organization's history does not have yet. */
const accountChangeView = z.object({
  organization_id: id,
  user_id: id,
  untold: z.literal(true),
  event_id: id,
  position,
  at: timestamp,
  change: accountChange,
})
export type AccountChangeView = z.infer<typeof accountChangeView>

type AccountChange = AccountChangeView['change']

type Place = { userId: string; organizationId: string; position: number }

export const accountChangeId = ({ userId, organizationId, position }: Place): string =>
  `${userId}/${organizationId}/${position}`

const events = { ...accountEvents, ...memberEvents, ...userEvents }

type ChangeOf = (data: unknown) => AccountChange | undefined

/** The change of the account that an event records; undefined: none. */
const changes = {
  CreditsGranted(data) {
    const { amount } = accountEvents.CreditsGranted.parse(data)
    return amount === 0 ? undefined : { kind: 'credits', amount }
  },
  SubscriptionChanged: (data) => ({
    kind: 'plan',
    plan: userEvents.SubscriptionChanged.parse(data).plan,
  }),
  IdentityLinked: () => ({ kind: 'identity' }),
} satisfies Record<string, ChangeOf>

type Memberships = readonly string[]

const joined = (organizations: Memberships, { metadata }: RecordedEvent): Memberships => [
  ...organizations.filter((id) => id !== metadata.organization_id),
  metadata.organization_id,
]
const left = (organizations: Memberships, { metadata }: RecordedEvent): Memberships =>
  organizations.filter((id) => id !== metadata.organization_id)

/** The organizations of which a user is an active member, after an event. */
const memberships = {
  MemberAdded: (organizations, event) =>
    memberEvents.MemberAdded.parse(event.data).status === 'active'
      ? joined(organizations, event)
      : organizations,
  MemberActivated: joined,
  MemberRemoved: left,
} satisfies Record<string, typeof joined>

const recordedType = 'MemberAccountChanged'

type Handled = keyof typeof changes | keyof typeof memberships | typeof recordedType

const ignores: { readonly [T in Exclude<keyof typeof events, Handled>]: true } = {
  CreditsReserved: true,
  CreditsSettled: true,
  ReservationReleased: true,
  BackingAllowed: true,
  InvitationDeclined: true,
  MemberRoleChanged: true,
  PersonalDataErased: true,
  UserRegistered: true,
  AddressChanged: true,
  UserInvited: true,
  InvitationsSettled: true,
  CurrentOrganizationChanged: true,
  AccountErased: true,
}

const changeOf: Readonly<Record<string, ChangeOf>> = changes
const membershipsAfter: Readonly<Record<string, typeof joined>> = memberships
const inMembership = (type: string): boolean =>
  type === recordedType || Object.hasOwn(memberships, type)

const stored: StoredFold<MembershipsView> = {
  events,
  ignores,

  id({ type, stream }) {
    if (inMembership(type)) return idIn(stream)
    return Object.hasOwn(changes, type) ? platformIdIn(stream) : undefined
  },

  fold(view, events, userId) {
    const others = new Map<string, DocumentChange>()
    let organizations: Memberships = view?.organizations ?? []
    for (const event of events) {
      const { type, data, id: event_id, position, metadata } = event
      const { organization_id, at } = metadata
      if (type === recordedType) {
        const place = memberEvents.MemberAccountChanged.parse(data)
        const id = accountChangeId({ userId, organizationId: organization_id, ...place })
        // A document of this batch is not stored yet, so there is nothing to remove.
        if (!others.delete(id)) others.set(id, { id, document: undefined })
        continue
      }
      organizations = membershipsAfter[type]?.(organizations, event) ?? organizations
      const change = changeOf[type]?.(data)
      if (!change) continue
      for (const organizationId of organizations) {
        // It is in that organization's own history.
        if (organizationId === organization_id) continue
        const id = accountChangeId({ userId, organizationId, position })
        const document: AccountChangeView = {
          organization_id: organizationId,
          user_id: userId,
          untold: true,
          event_id,
          position,
          at,
          change,
        }
        others.set(id, { id, document })
      }
    }
    const same = view && view.organizations === organizations
    return {
      view: same ? view : { user_id: userId, organizations: [...organizations] },
      others: [...others.values()],
    }
  },
}

/**
 * To-do list of account changes by the platform that an organization's history does not have yet:
 * one document for each change and each organization of which the user was then an active member.
 * Recording the change in the organization's history removes the document.
 */
export const accountChanges: LogProjection<MembershipsView | AccountChangeView> = {
  name: 'account_changes',
  schema: z.union([membershipsView, accountChangeView]),
  indexes: { untold: { equals: ['untold'], orderBy: 'position' } },
  stored,
}

/** What is found by the index `untold`. */
export const isUntold = (view: MembershipsView | AccountChangeView): view is AccountChangeView =>
  'untold' in view
