import { queryOptions, useQuery } from '@tanstack/react-query'
import { answerOf, api } from '../api/client.ts'
import { useSession } from './session.ts'

/** Names of the first hundred members by their ids. */
export const memberNamesQuery = (organizationId: string) =>
  queryOptions({
    queryKey: ['member-names', organizationId],
    queryFn: async () => {
      const { members } = await answerOf(
        api.GET('/api/admin/organizations/{organization_id}/members', {
          params: { path: { organization_id: organizationId }, query: { page_size: 100 } },
        }),
      )
      return new Map(members.map(({ user_id, name, email }) => [user_id, name || email]))
    },
    staleTime: 60_000,
  })

/** The name of a member where it may be read, else the user's id. */
export const UserName = ({ id }: { id: string }) => {
  const { can, isManager, organizationId, user } = useSession()
  const isAllowed = can('admin:read') && isManager
  const { data } = useQuery({ ...memberNamesQuery(organizationId), enabled: isAllowed })
  const name = data?.get(id)
  const you = id === user.user_id ? ' (you)' : ''
  return name ? (
    <span dir="auto" title={id}>
      {name}
      {you}
    </span>
  ) : (
    <span title={id}>
      <span className="mono">{id.slice(0, 8)}</span>
      {you}
    </span>
  )
}
