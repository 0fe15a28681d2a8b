import { queryOptions } from '@tanstack/react-query'
import { type Answer, answerOf, api } from '../../api/client.ts'
import type { EventFilters } from './filters.ts'

type Changes = Answer<'/api/admin/organizations/{organization_id}/audit/changes'>
export type DocumentChange = Changes['changes'][number]

const pageSize = 50

/** A page of events, the newest first unless the filters say otherwise. */
export const eventsQuery = (
  organizationId: string,
  filters: EventFilters,
  after: string | undefined,
) =>
  queryOptions({
    queryKey: ['history-events', organizationId, filters, after],
    queryFn: () =>
      answerOf(
        api.GET('/api/admin/organizations/{organization_id}/audit/events', {
          params: {
            path: { organization_id: organizationId },
            query: {
              ...filters,
              order: filters.order ?? 'desc',
              limit: pageSize,
              ...(after === undefined ? {} : { after: Number(after) }),
            },
          },
        }),
      ),
  })

type StateRequest = {
  organizationId: string
  view: string
  asOf: string | undefined
  after: string | undefined
}

/** A page of the documents of a read model as of a time or position; undefined: now. */
export const stateQuery = ({ organizationId, view, asOf, after }: StateRequest) =>
  queryOptions({
    queryKey: ['history-state', organizationId, view, asOf, after],
    queryFn: () =>
      answerOf(
        api.GET('/api/admin/organizations/{organization_id}/audit/state', {
          params: {
            path: { organization_id: organizationId },
            query: { view, as_of: asOf, after, limit: pageSize },
          },
        }),
      ),
    placeholderData: (former) => (former?.view === view ? former : undefined),
  })

type ChangesRequest = {
  organizationId: string
  view: string
  since: string | undefined
  until: string | undefined
  after: string | undefined
}

/** A page of the documents that differ between two moments. */
export const changesQuery = ({ organizationId, view, since, until, after }: ChangesRequest) =>
  queryOptions({
    queryKey: ['history-changes', organizationId, view, since, until, after],
    queryFn: () =>
      answerOf(
        api.GET('/api/admin/organizations/{organization_id}/audit/changes', {
          params: {
            path: { organization_id: organizationId },
            query: { view, from: since, to: until, after, limit: pageSize },
          },
        }),
      ),
    placeholderData: (former) => (former?.view === view ? former : undefined),
  })
