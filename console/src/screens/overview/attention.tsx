import { useQueries } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { answerOf, api } from '../../api/client.ts'
import { classNames } from '../../components/class-names.ts'
import { Icon } from '../../components/icon.tsx'
import { Skeleton } from '../../components/states.tsx'
import { useSession } from '../../session/session.ts'
import type { Screen } from '../../shell/navigation.ts'
import styles from './overview-screen.module.css'

type Matter = {
  id: string
  /** Of one, and of several. */
  words: readonly [string, string]
  to: Screen['to']
  scope: string
  count: () => Promise<number>
}

const refetchMs = 15_000

const matters: readonly Matter[] = [
  {
    id: 'approvals',
    words: ['approval is waiting', 'approvals are waiting'],
    to: '/approvals',
    scope: 'approvals:read',
    count: async () => {
      const query = { status: 'pending', approver: 'admin', page_size: 1 } as const
      return (await answerOf(api.GET('/api/external/approvals', { params: { query } }))).total
    },
  },
  {
    id: 'uploads',
    words: ['upload failed', 'uploads failed'],
    to: '/knowledge',
    scope: 'rag:read',
    count: async () => {
      const query = { status: 'failed', limit: 1 } as const
      return (await answerOf(api.GET('/api/external/rag/uploads', { params: { query } }))).total
    },
  },
  {
    id: 'content',
    words: ['content item failed', 'content items failed'],
    to: '/content',
    scope: 'content:read',
    count: async () => {
      const query = { status: 'failed', page_size: 1 } as const
      return (await answerOf(api.GET('/api/external/content', { params: { query } }))).total
    },
  },
]

/** What somebody has to look at, each with the screen where it is dealt with. */
export const Attention = () => {
  const { can, isManager, organizationId } = useSession()
  const mine = matters.filter(({ id, scope }) => can(scope) && (id !== 'approvals' || isManager))
  const queries = useQueries({
    queries: mine.map(({ id, count }) => ({
      queryKey: ['attention', organizationId, id],
      queryFn: count,
      refetchInterval: refetchMs,
    })),
  })
  const isPending = queries.some((query) => query.isPending)
  const isFailed = queries.some(({ isError }) => isError)
  const open = mine.flatMap(({ id, words, to }, index) => {
    const count = queries[index]?.data ?? 0
    return count > 0 ? [{ id, to, text: `${count} ${words[count === 1 ? 0 : 1]}` }] : []
  })
  const emptyText = isFailed ? 'Some of it could not be loaded' : 'Nothing needs attention'
  return (
    <section
      className={classNames(styles.attention, open.length > 0 && styles.urgent)}
      aria-label="Needs attention"
    >
      {open.length > 0 && (
        <>
          <strong className="row">
            <Icon name="warning" />
            Needs attention
          </strong>
          <ul>
            {open.map(({ id, to, text }) => (
              <li key={id}>
                <Link to={to}>{text}</Link>
              </li>
            ))}
          </ul>
        </>
      )}
      {open.length === 0 && (
        <span className="row soft">
          {isPending ? <Skeleton width="12rem" /> : <Icon name={isFailed ? 'info' : 'check'} />}
          {!isPending && emptyText}
        </span>
      )}
    </section>
  )
}
