import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { type Answer, answerOf, api } from '../../api/client.ts'
import { classNames } from '../../components/class-names.ts'
import { Icon } from '../../components/icon.tsx'
import { FailedState, Skeleton } from '../../components/states.tsx'
import { useSession } from '../../session/session.ts'
import type { Screen } from '../../shell/navigation.ts'
import styles from './overview-screen.module.css'

type AttentionAnswer = Answer<'/api/admin/organizations/{organization_id}/attention'>

type Matter = {
  part: keyof AttentionAnswer
  /** Of one, and of several. */
  words: readonly [string, string]
  to: Screen['to']
}

const matters: readonly Matter[] = [
  {
    part: 'pending_approvals',
    words: ['approval is waiting', 'approvals are waiting'],
    to: '/approvals',
  },
  {
    part: 'runs_in_doubt',
    words: ['run waits for the outcome of a tool', 'runs wait for the outcome of a tool'],
    to: '/approvals',
  },
  { part: 'failed_uploads', words: ['upload failed', 'uploads failed'], to: '/knowledge' },
  {
    part: 'unreadable_events',
    words: ['event cannot be read', 'events cannot be read'],
    to: '/history',
  },
]

const refetchMs = 15_000

const useAttention = (organizationId: string) =>
  useQuery({
    queryKey: ['attention', organizationId],
    queryFn: () =>
      answerOf(
        api.GET('/api/admin/organizations/{organization_id}/attention', {
          params: { path: { organization_id: organizationId }, query: { limit: 1 } },
        }),
      ),
    refetchInterval: refetchMs,
  })

/** What somebody has to look at, each with the screen where it is dealt with. */
export const Attention = () => {
  const { organizationId } = useSession()
  const { data, error, refetch } = useAttention(organizationId)
  if (!data && error) return <FailedState error={error} onRetry={() => void refetch()} />
  const open = data ? matters.filter(({ part }) => data[part].total > 0) : []
  return (
    <section
      className={classNames(styles.attention, open.length > 0 && styles.urgent)}
      aria-label="Needs attention"
    >
      {!data && <Skeleton width="12rem" />}
      {data && open.length === 0 && (
        <span className="row soft">
          <Icon name="check" />
          Nothing needs attention
        </span>
      )}
      {data && open.length > 0 && (
        <>
          <strong className="row">
            <Icon name="warning" />
            Needs attention
          </strong>
          <ul>
            {open.map(({ part, words, to }) => (
              <li key={part}>
                <Link to={to}>
                  {data[part].total} {words[data[part].total === 1 ? 0 : 1]}
                </Link>
              </li>
            ))}
          </ul>
        </>
      )}
    </section>
  )
}
