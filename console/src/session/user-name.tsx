import { useQuery } from '@tanstack/react-query'
import { memberNamesQuery } from '../api/members.ts'
import { shortId } from '../components/short-id.ts'
import { useSession } from './session.ts'

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
      <span className="mono">{shortId(id)}</span>
      {you}
    </span>
  )
}
