import { queryOptions } from '@tanstack/react-query'
import { type Answer, answerOf, api } from '../../api/client.ts'

export type Member = Answer<'/api/admin/organizations/{organization_id}/members'>['members'][number]
export type ApiKey =
  Answer<'/api/admin/organizations/{organization_id}/api-keys'>['api_keys'][number]
export type User = Answer<'/api/external/management/users'>['users'][number]

type UsageAnswer = Answer<'/api/admin/organizations/{organization_id}/usage'>
export type UsageRow = UsageAnswer['usage'][number]
export type ChargedRun = Answer<'/api/admin/organizations/{organization_id}/runs'>['runs'][number]

const pageSize = 50

export const membersKey = (organizationId: string) => ['members', organizationId] as const
export const keysKey = (organizationId: string) => ['api-keys', organizationId] as const

/** A page of the members, also of those who were only invited. */
export const membersQuery = (organizationId: string, page: number) =>
  queryOptions({
    queryKey: [...membersKey(organizationId), page],
    queryFn: () =>
      answerOf(
        api.GET('/api/admin/organizations/{organization_id}/members', {
          params: {
            path: { organization_id: organizationId },
            query: { page, page_size: pageSize },
          },
        }),
      ),
  })

/** A page of the users whose accounts the organization provisioned. */
export const usersQuery = (organizationId: string, email: string | undefined, page: number) =>
  queryOptions({
    queryKey: ['provisioned-users', organizationId, email, page],
    queryFn: () =>
      answerOf(
        api.GET('/api/external/management/users', {
          params: { query: { email, page, page_size: pageSize } },
        }),
      ),
  })

/** A page of the organization's keys. */
export const keysQuery = (organizationId: string, page: number) =>
  queryOptions({
    queryKey: [...keysKey(organizationId), page],
    queryFn: () =>
      answerOf(
        api.GET('/api/admin/organizations/{organization_id}/api-keys', {
          params: {
            path: { organization_id: organizationId },
            query: { page, page_size: pageSize },
          },
        }),
      ),
  })

/** Plan and balance of each owner. */
export const creditsQuery = (organizationId: string) =>
  queryOptions({
    queryKey: ['credits', organizationId],
    queryFn: () =>
      answerOf(
        api.GET('/api/admin/organizations/{organization_id}/credits', {
          params: { path: { organization_id: organizationId } },
        }),
      ),
  })

export type ChargeFilters = {
  agent_id?: string | undefined
  model?: string | undefined
  user_id?: string | undefined
  /** ISO 8601; from ≤ start of the run < to. */
  from: string
  to: string
}

/** A page of the runs by their charges, the costliest first. */
export const chargedRunsQuery = (
  organizationId: string,
  filters: ChargeFilters,
  cursor: string | undefined,
) =>
  queryOptions({
    queryKey: ['charged-runs', organizationId, filters, cursor],
    queryFn: () =>
      answerOf(
        api.GET('/api/admin/organizations/{organization_id}/runs', {
          params: {
            path: { organization_id: organizationId },
            query: { ...filters, sort: 'charge', limit: pageSize, cursor },
          },
        }),
      ),
  })
