import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { ScrollRegion } from '../../components/scroll-region.tsx'
import { EmptyState, ForbiddenState, QueryView, Skeleton } from '../../components/states.tsx'
import { Time } from '../../components/time.tsx'
import { useSession } from '../../session/session.ts'
import styles from './approvals.module.css'
import { type Approval, conversationQuery } from './approvals-queries.ts'

const speakers = { user_message: 'User', assistant_message: 'Assistant', tool_message: 'Tool' }

/** Longer texts are cut: the whole is in the run. */
const longestText = 20_000

/** For whom a conversation of a user is read; undefined for one's own without delegation. */
export const useReader = (userId: string) => {
  const { can, user } = useSession()
  const onBehalfOf = can('users:delegate') ? userId : undefined
  return { onBehalfOf, isAllowed: onBehalfOf !== undefined || user.user_id === userId }
}

/** The messages before a call, the newest fifty of its conversation. */
export const Conversation = ({ approval }: { approval: Approval }) => {
  const { session_id, user_id, requested_at, run_id } = approval
  const { can } = useSession()
  const { onBehalfOf, isAllowed } = useReader(user_id)
  const canRead = can('sessions:messages')
  const query = useQuery({
    ...conversationQuery(session_id, onBehalfOf),
    enabled: canRead && isAllowed,
  })
  if (!canRead) return <ForbiddenState scope="sessions:messages" what="this conversation" />
  if (!isAllowed) return <ForbiddenState scope="users:delegate" what="this conversation" />
  return (
    <QueryView query={query} skeleton={<Skeleton lines={4} height="2rem" />}>
      {({ messages, page }) => {
        const before = messages.filter(
          ({ created_at, content }) => created_at <= requested_at && content !== '',
        )
        if (before.length === 0)
          return <EmptyState icon="playground" title="No messages before this call" />
        return (
          <ol className={styles.messages} aria-label="Messages">
            {page > 1 && (
              <li className="soft small">
                Earlier messages are in{' '}
                <Link to="/runs/$runId" params={{ runId: run_id }}>
                  the run
                </Link>
              </li>
            )}
            {before.map(({ event_id, event_type, agent, content, created_at }) => (
              <li key={event_id} className={styles.message}>
                <header>
                  <strong dir="auto">{agent ?? speakers[event_type]}</strong>
                  <span className="soft">
                    <Time at={created_at} />
                  </span>
                </header>
                <ScrollRegion className={styles.long} label="Message">
                  <p dir="auto">
                    {content.slice(0, longestText)}
                    {content.length > longestText && '…'}
                  </p>
                </ScrollRegion>
              </li>
            ))}
          </ol>
        )
      }}
    </QueryView>
  )
}
