import { useQuery } from '@tanstack/react-query'
import { getRouteApi } from '@tanstack/react-router'
import { type ReactNode, useState } from 'react'
import { organizationQuery } from '../../api/organization.ts'
import { JsonBlock } from '../../components/code-block.tsx'
import { useCursorPaging } from '../../components/data-table.tsx'
import { Diff } from '../../components/diff.tsx'
import { Select } from '../../components/fields.tsx'
import { EmptyState, FailedState, Loading, Skeleton } from '../../components/states.tsx'
import { Status } from '../../components/status.tsx'
import { formatNumber } from '../../format/numbers.ts'
import { useSession } from '../../session/session.ts'
import { feedsQuery } from '../feeds/feeds-query.ts'
import styles from './history.module.css'
import { changesQuery, type DocumentChange, stateQuery } from './history-queries.ts'
import { Pages } from './pages.tsx'
import { TimeSlider } from './time-slider.tsx'

const route = getRouteApi('/history')

const defaultView = 'agents'

const ViewSelect = ({ view, onChange }: { view: string; onChange: (view: string) => void }) => {
  const { organizationId } = useSession()
  const { data: feeds } = useQuery(feedsQuery(organizationId))
  const names = feeds?.map(({ read_model }) => read_model) ?? []
  const options = (names.includes(view) ? names : [view, ...names]).map((id) => ({ id, label: id }))
  return <Select label="Read model" options={options} value={view} onChange={onChange} />
}

/** The time from the first event of the organization until the screen was opened. */
const useSpan = () => {
  const { organizationId } = useSession()
  const { data } = useQuery(organizationQuery(organizationId))
  const [now] = useState(() => Date.now())
  const start = data ? Date.parse(data.created_at) : now - 1_000
  return { start: Math.min(start, now - 1_000), end: now }
}

const LoadingState = () => (
  <Loading className={styles.groups}>
    <div className={styles.loading}>
      <Skeleton lines={6} height="1.5rem" />
    </div>
  </Loading>
)

const nameOf = (document: Record<string, unknown>): string | undefined => {
  const name = document.name ?? document.title ?? document.email
  return typeof name === 'string' && name !== '' ? name : undefined
}

type ItemProps = {
  id: string
  document: Record<string, unknown>
  badge?: ReactNode
  children: () => ReactNode
}

const DocumentItem = ({ id, document, badge, children }: ItemProps) => {
  const [isOpen, setOpen] = useState(false)
  const name = nameOf(document)
  return (
    <li>
      <details
        className={styles.document}
        onToggle={({ currentTarget }) => setOpen(currentTarget.open)}
      >
        <summary>
          {badge}
          {name && (
            <span className="truncate" dir="auto" title={name}>
              {name}
            </span>
          )}
          <span className="mono soft truncate" title={id}>
            {id}
          </span>
        </summary>
        {isOpen && <div className={styles.eventBody}>{children()}</div>}
      </details>
    </li>
  )
}

const unreadableWords = (count: number): string =>
  count === 1
    ? '1 event cannot be read and is left out'
    : `${count} events cannot be read and are left out`

/** A read model as it was at a moment of the past. */
export const PastStates = () => {
  const { organizationId } = useSession()
  const search = route.useSearch()
  const navigate = route.useNavigate()
  const { view = defaultView, as_of: asOf, after } = search
  const span = useSpan()
  const { data, error, refetch } = useQuery(stateQuery({ organizationId, view, asOf, after }))
  const go = (change: { view?: string; as_of?: string | undefined; after?: string | undefined }) =>
    void navigate({ search: { tab: 'states', view, as_of: asOf, ...change } })
  const paging = useCursorPaging({
    cursor: after,
    nextCursor: data?.next_after,
    onCursor: (next) =>
      // The pages of one list are of one state.
      go({ after: next, as_of: asOf ?? (data && next ? String(data.position) : undefined) }),
  })
  return (
    <div className="stack">
      <div className={styles.controls}>
        <ViewSelect view={view} onChange={(id) => go({ view: id })} />
        <TimeSlider
          label="Moment"
          {...span}
          moments={[{ label: 'As of', value: asOf, otherwise: 'now' }]}
          onChange={([value]) => go({ as_of: value })}
        />
      </div>
      {!data && error && <FailedState error={error} onRetry={() => void refetch()} />}
      {!data && !error && <LoadingState />}
      {data && (
        <>
          <p className="soft small" role="status">
            {data.total === 1 ? '1 document' : `${formatNumber(data.total)} documents`}
            {data.position >= 0 ? ` after the event at position ${data.position}` : ''}
            {data.unreadable_events ? `. ${unreadableWords(data.unreadable_events.length)}` : ''}
          </p>
          {data.documents.length === 0 ? (
            <EmptyState icon="table" title="No documents at that time">
              {view} was empty. Choose a later moment or another read model.
            </EmptyState>
          ) : (
            <>
              <ul className={styles.groups} aria-label={`Documents of ${view}`}>
                {data.documents.map(({ id, document }) => (
                  <DocumentItem key={id} id={id} document={document}>
                    {() => <JsonBlock title="Document" value={document} />}
                  </DocumentItem>
                ))}
              </ul>
              <Pages {...paging} />
            </>
          )}
        </>
      )}
    </div>
  )
}

const looks = {
  new: { tone: 'good', label: 'New' },
  changed: { tone: 'warn', label: 'Changed' },
  gone: { tone: 'bad', label: 'Removed' },
} as const

const ChangeItem = ({ change }: { change: DocumentChange }) => (
  <DocumentItem
    id={change.id}
    document={change.after ?? change.before ?? {}}
    badge={<Status status={change.change} {...looks[change.change]} />}
  >
    {() =>
      change.change === 'changed' ? (
        <Diff before={change.before} after={change.after} />
      ) : (
        <JsonBlock title="Document" value={change.after ?? change.before} />
      )
    }
  </DocumentItem>
)

/** What differs in a read model between two moments. */
export const Differences = () => {
  const { organizationId } = useSession()
  const search = route.useSearch()
  const navigate = route.useNavigate()
  const { view = defaultView, since, until, after } = search
  const span = useSpan()
  const { data, error, refetch } = useQuery(
    changesQuery({ organizationId, view, since, until, after }),
  )
  const go = (change: {
    view?: string
    since?: string | undefined
    until?: string | undefined
    after?: string | undefined
  }) => void navigate({ search: { tab: 'differences', view, since, until, ...change } })
  const paging = useCursorPaging({
    cursor: after,
    nextCursor: data?.next_after,
    onCursor: (next) =>
      go({ after: next, until: until ?? (data && next ? String(data.to) : undefined) }),
  })
  return (
    <div className="stack">
      <div className={styles.controls}>
        <ViewSelect view={view} onChange={(id) => go({ view: id })} />
        <TimeSlider
          label="Moments"
          {...span}
          moments={[
            { label: 'From', value: since, otherwise: 'start' },
            { label: 'To', value: until, otherwise: 'now' },
          ]}
          onChange={([from, to]) => go({ since: from, until: to })}
        />
      </div>
      {!data && error && <FailedState error={error} onRetry={() => void refetch()} />}
      {!data && !error && <LoadingState />}
      {data && (
        <>
          <p className="soft small" role="status">
            {data.total === 1
              ? '1 document differs'
              : `${formatNumber(data.total)} documents differ`}
            {data.unreadable_events ? `. ${unreadableWords(data.unreadable_events.length)}` : ''}
          </p>
          {data.changes.length === 0 ? (
            <EmptyState icon="check" title="No differences">
              {view} was the same at both moments.
            </EmptyState>
          ) : (
            <>
              <ul className={styles.groups} aria-label={`Differences of ${view}`}>
                {data.changes.map((change) => (
                  <ChangeItem key={change.id} change={change} />
                ))}
              </ul>
              <Pages {...paging} />
            </>
          )}
        </>
      )}
    </div>
  )
}
