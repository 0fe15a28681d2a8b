import { queryOptions } from '@tanstack/react-query'
import { type Answer, answerOf, api } from './client.ts'

/** The first 200 members of an organization. */
export const membersQuery = (organizationId: string) =>
  queryOptions({
    queryKey: ['members', organizationId],
    queryFn: () =>
      answerOf(
        api.GET('/api/admin/organizations/{organization_id}/members', {
          params: { path: { organization_id: organizationId }, query: { page_size: 200 } },
        }),
      ),
    staleTime: 30_000,
  })

type Members = Answer<'/api/admin/organizations/{organization_id}/members'>

/** One function for all renderings, so that the names are derived once for each answer. */
const namesIn = ({ members }: Members): ReadonlyMap<string, string> =>
  new Map(members.map(({ user_id, name, email }) => [user_id, name || email || user_id]))

/** Their names by their ids. */
export const memberNamesQuery = (organizationId: string) =>
  queryOptions({ ...membersQuery(organizationId), select: namesIn })
