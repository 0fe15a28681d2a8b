import { useQuery } from '@tanstack/react-query'
import { getRouteApi, Link } from '@tanstack/react-router'
import { useState } from 'react'
import { Button } from '../../components/button.tsx'
import { CopyButton, JsonBlock } from '../../components/code-block.tsx'
import { useCursorPaging } from '../../components/data-table.tsx'
import { Select, TextField } from '../../components/fields.tsx'
import { EmptyState, FailedState, Loading, Skeleton } from '../../components/states.tsx'
import { Time } from '../../components/time.tsx'
import { useSession } from '../../session/session.ts'
import { type EventFilters, filtersOf, fromLocal, isFiltered, toLocal } from './filters.ts'
import { type EventGroup, groupEvents, type HistoryEvent, runOf, timeOf } from './group-events.ts'
import styles from './history.module.css'
import { eventsQuery } from './history-queries.ts'
import { Pages } from './pages.tsx'
import { ProofDetails, ProofStatus } from './proof-panel.tsx'
import { useEventProof } from './use-proof.ts'

const route = getRouteApi('/history')

const textFilters = [
  ['type', 'Type', 'RunCompleted'],
  ['actor', 'Actor', 'Key or user id'],
  ['request_id', 'Request', 'Request id'],
  ['session_id', 'Session', 'Session id'],
  ['run_id', 'Run', 'Run id'],
  ['agent_id', 'Agent', 'Agent id'],
  ['model', 'Model', 'provider/model'],
] as const

const orders = [
  { id: 'desc', label: 'Newest first' },
  { id: 'asc', label: 'Oldest first' },
] as const

const FilterForm = ({ filters }: { filters: EventFilters }) => {
  const navigate = route.useNavigate()
  const [draft, setDraft] = useState(filters)
  const set = <Name extends keyof EventFilters>(name: Name, value: EventFilters[Name]) =>
    setDraft({ ...draft, [name]: value })
  return (
    <form
      className={styles.filters}
      aria-label="Filters"
      onSubmit={(event) => {
        event.preventDefault()
        void navigate({ search: filtersOf(draft) })
      }}
    >
      {textFilters.map(([name, label, placeholder]) => (
        <TextField
          key={name}
          label={label}
          placeholder={placeholder}
          value={draft[name] ?? ''}
          onChange={(text) => set(name, text.trim() || undefined)}
        />
      ))}
      <Select
        label="Order"
        options={orders}
        value={draft.order ?? 'desc'}
        onChange={(id) => set('order', id === 'asc' ? id : undefined)}
      />
      {(['from', 'to'] as const).map((name) => (
        <TextField
          key={name}
          label={name === 'from' ? 'From' : 'To'}
          type="datetime-local"
          value={toLocal(draft[name])}
          onChange={(local) => set(name, fromLocal(local))}
        />
      ))}
      <div className={styles.filterButtons}>
        <Button type="submit" kind="primary" icon="filter">
          Apply
        </Button>
        {isFiltered(filters) && (
          <Button kind="quiet" onPress={() => void navigate({ search: {} })}>
            Clear
          </Button>
        )}
      </div>
    </form>
  )
}

const EventBody = ({ event }: { event: HistoryEvent }) => {
  const { organizationId } = useSession()
  const { badge, verify } = useEventProof(organizationId, event)
  const runId = runOf(event)
  const at = timeOf(event)
  return (
    <div className={styles.eventBody}>
      <div className={styles.eventBar}>
        <div className="row">
          <Button onPress={() => void verify()} isDisabled={badge?.state === 'verifying'}>
            Verify this event
          </Button>
          {badge && <ProofStatus badge={badge} />}
        </div>
        <div className="row small">
          {at && (
            <Link to="/history" search={{ tab: 'states', as_of: String(event.position) }}>
              State after this event
            </Link>
          )}
          {runId && (
            <Link to="/history" search={{ run_id: runId, order: 'asc' }}>
              Events of the run
            </Link>
          )}
          {runId && (
            <Link to="/charges/$runId" params={{ runId }}>
              Charge of the run
            </Link>
          )}
        </div>
      </div>
      {badge && badge.details.length > 0 && (
        <div className="small" role="status">
          <p>{badge.text}</p>
          <details className={styles.more}>
            <summary>What is verified</summary>
            <ProofDetails badge={badge} />
          </details>
        </div>
      )}
      <JsonBlock title="Event" value={event} />
    </div>
  )
}

const EventItem = ({ event }: { event: HistoryEvent }) => {
  const [isOpen, setOpen] = useState(false)
  return (
    <li>
      <details className={styles.event} onToggle={(change) => setOpen(change.currentTarget.open)}>
        <summary>
          <span className={styles.type}>{event.type}</span>
          <span className="mono soft truncate" title={event.stream}>
            {event.stream}@{event.revision}
          </span>
          <span className="number soft">{event.position}</span>
        </summary>
        {isOpen && <EventBody event={event} />}
      </details>
    </li>
  )
}

const Group = ({ group }: { group: EventGroup }) => {
  const { requestId, actor, at, events } = group
  return (
    <li>
      <div className={styles.groupHead}>
        <div className={styles.groupName}>
          {requestId === null ? (
            <h3>Background work</h3>
          ) : (
            <>
              <h3 className="truncate">
                <span className="soft">Request </span>
                <Link
                  className="mono"
                  to="/history"
                  search={{ request_id: requestId }}
                  title={requestId}
                >
                  {requestId}
                </Link>
              </h3>
              <CopyButton text={requestId} what="Request id" />
            </>
          )}
        </div>
        <div className={styles.groupFacts}>
          {actor && (
            <span className="truncate">
              by{' '}
              <Link className="mono" to="/history" search={{ actor }} title={actor}>
                {actor.slice(-8)}
              </Link>
            </span>
          )}
          <span>{events.length === 1 ? '1 event' : `${events.length} events`}</span>
          <Time at={at} />
        </div>
      </div>
      <ul>
        {events.map((event) => (
          <EventItem key={event.id} event={event} />
        ))}
      </ul>
    </li>
  )
}

/** The events of the organization, request by request. */
export const EventList = () => {
  const { organizationId } = useSession()
  const search = route.useSearch()
  const navigate = route.useNavigate()
  const { after } = search
  const filters = filtersOf(search)
  const { data, error, isFetching, refetch } = useQuery(eventsQuery(organizationId, filters, after))
  const paging = useCursorPaging({
    cursor: after,
    nextCursor: data?.has_more ? String(data.next_after) : undefined,
    onCursor: (next) => void navigate({ search: { ...filters, ...(next && { after: next }) } }),
  })
  return (
    <div className="stack">
      <FilterForm key={JSON.stringify(filters)} filters={filters} />
      {!data && error && <FailedState error={error} onRetry={() => void refetch()} />}
      {!data && !error && (
        <Loading className={styles.groups}>
          <div className={styles.loading}>
            <Skeleton lines={12} height="1.5rem" />
          </div>
        </Loading>
      )}
      {data?.events.length === 0 && (
        <EmptyState icon="history" title={data.has_more ? 'None on this page' : 'No events'}>
          {data.has_more
            ? 'None of the events of this page match. The next page continues the search.'
            : 'No events match these filters.'}
        </EmptyState>
      )}
      {data && data.events.length > 0 && (
        <>
          <h2 className="visually-hidden">Events</h2>
          <ul className={styles.groups} aria-label="Events by request">
            {groupEvents(data.events).map((group) => (
              <Group key={group.id} group={group} />
            ))}
          </ul>
        </>
      )}
      {data && (
        <Pages {...paging}>
          <Button
            kind="quiet"
            icon="refresh"
            isDisabled={isFetching}
            onPress={() => void refetch()}
          >
            Refresh
          </Button>
        </Pages>
      )}
    </div>
  )
}
