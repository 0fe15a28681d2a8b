import { z } from 'zod'
import { organizationEvents } from '../src/domain/organization/events.ts'
import { id, incomplete, text, timestamp } from './fields.ts'
import { idIn, projection } from './projection.ts'

export const organizationView = z.object({
  organization_id: id,
  name: text,
  color: text.nullable().describe('#rrggbb, for pages that people see; null: none'),
  /** The owner of longest standing. */
  owner_user_id: id.nullable(),
  owner_user_ids: z.array(id),
  orchestrator_agent_id: id,
  created_at: timestamp,
  updated_at: timestamp,
  incomplete,
})
export type OrganizationView = z.infer<typeof organizationView>

const owned = (view: OrganizationView, owners: string[], at: string) => ({
  ...view,
  owner_user_id: owners[0] ?? null,
  owner_user_ids: owners,
  updated_at: at,
})

export const organizations = projection<OrganizationView, typeof organizationEvents>()({
  name: 'organizations',
  schema: organizationView,
  shown: { schema: organizationView },
  categories: ['organization'],
  events: organizationEvents,
  indexes: { all: { equals: [], orderBy: 'created_at' } },
  id: ({ stream }) => idIn(stream),
  creates: {
    OrganizationCreated: ({ data, metadata }, id) => ({
      organization_id: id,
      name: data.name,
      color: null,
      owner_user_id: data.ownerUserId,
      owner_user_ids: [data.ownerUserId],
      orchestrator_agent_id: data.orchestratorAgentId,
      created_at: metadata.at,
      updated_at: metadata.at,
    }),
  },
  changes: {
    OrganizationRenamed: (view, { data, metadata }) => ({
      ...view,
      name: data.name,
      updated_at: metadata.at,
    }),
    OrganizationColored: (view, { data, metadata }) => ({
      ...view,
      color: data.color,
      updated_at: metadata.at,
    }),
    OwnerAdded: (view, { data, metadata }) =>
      owned(view, [...view.owner_user_ids, data.userId], metadata.at),
    OwnerRemoved: (view, { data, metadata }) =>
      owned(
        view,
        view.owner_user_ids.filter((id) => id !== data.userId),
        metadata.at,
      ),
  },
  ignores: {},
})
