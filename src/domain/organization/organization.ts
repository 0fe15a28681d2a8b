import { type Aggregate, streamOf } from '../aggregate.ts'
import { refusal } from '../refusal.ts'
import { type OrganizationEvent, organizationEvents } from './events.ts'

export type Organization = {
  status: 'unknown' | 'created'
  name: string
  color: string | null
  /**
   * The owners, longest first. An owner is added here after the membership says so, and removed
   * before it: everyone counted here is an owner, so the last one cannot be lost.
   */
  owners: readonly string[]
  orchestratorAgentId: string
}

export const organization: Aggregate<Organization, typeof organizationEvents> = {
  category: 'organization',
  events: organizationEvents,
  initial: { status: 'unknown', name: '', color: null, owners: [], orchestratorAgentId: '' },
  evolve: {
    OrganizationCreated: (_, { name, ownerUserId, orchestratorAgentId }) => ({
      status: 'created',
      name,
      color: null,
      owners: [ownerUserId],
      orchestratorAgentId,
    }),
    OrganizationRenamed: (state, { name }) => ({ ...state, name }),
    OrganizationColored: (state, { color }) => ({ ...state, color }),
    OwnerAdded: (state, { userId }) => ({ ...state, owners: [...state.owners, userId] }),
    OwnerRemoved: (state, { userId }) => ({
      ...state,
      owners: state.owners.filter((owner) => owner !== userId),
    }),
  },
}

/** An organization's own stream is inside it: `organization-<id>_<id>`. */
export const organizationStream = (organizationId: string) =>
  streamOf(organization, organizationId, organizationId)

export const decideCreate =
  (data: OrganizationEvent<'OrganizationCreated'>['data']) =>
  (state: Organization): OrganizationEvent<'OrganizationCreated'>[] =>
    state.status === 'unknown' ? [{ type: 'OrganizationCreated', data }] : []

/** @throws organization_not_found */
export const requireOrganization = ({ status }: Organization): [] => {
  if (status === 'unknown') throw refusal('organization_not_found')
  return []
}

/** @throws organization_not_found */
export const decideRename =
  (name: string) =>
  (state: Organization): OrganizationEvent<'OrganizationRenamed'>[] => {
    requireOrganization(state)
    return state.name === name ? [] : [{ type: 'OrganizationRenamed', data: { name } }]
  }

/** @throws organization_not_found */
export const decideColor =
  (color: string | null) =>
  (state: Organization): OrganizationEvent<'OrganizationColored'>[] => {
    requireOrganization(state)
    return state.color === color ? [] : [{ type: 'OrganizationColored', data: { color } }]
  }

export const decideAddOwner =
  (userId: string) =>
  (state: Organization): OrganizationEvent<'OwnerAdded'>[] =>
    state.owners.includes(userId) ? [] : [{ type: 'OwnerAdded', data: { userId } }]

/** @throws last_owner */
export const decideRemoveOwner =
  (userId: string) =>
  ({ owners }: Organization): OrganizationEvent<'OwnerRemoved'>[] => {
    if (!owners.includes(userId)) return []
    if (owners.length === 1) throw refusal('last_owner')
    return [{ type: 'OwnerRemoved', data: { userId } }]
  }
