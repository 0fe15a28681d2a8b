import { queryOptions } from '@tanstack/react-query'
import { answerOf, api } from './client.ts'

/** The organization, with the id of its orchestrator; its history begins with it. */
export const organizationQuery = (organizationId: string) =>
  queryOptions({
    queryKey: ['organization', organizationId],
    queryFn: () =>
      answerOf(
        api.GET('/api/admin/organizations/{organization_id}', {
          params: { path: { organization_id: organizationId } },
        }),
      ),
    staleTime: 60_000,
  })
