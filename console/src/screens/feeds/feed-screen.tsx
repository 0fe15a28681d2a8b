import { useQuery } from '@tanstack/react-query'
import { getRouteApi, Link } from '@tanstack/react-router'
import { useState } from 'react'
import { asCurl } from '../../api/as-curl.ts'
import { feedPath } from '../../api/follow-feed.ts'
import { Count } from '../../components/amounts.tsx'
import { Button } from '../../components/button.tsx'
import { CodeBlock, JsonBlock } from '../../components/code-block.tsx'
import { type Column, DataTable } from '../../components/data-table.tsx'
import { Page } from '../../components/page.tsx'
import {
  EmptyState,
  ErrorState,
  ForbiddenState,
  QueryView,
  Skeleton,
} from '../../components/states.tsx'
import { Status } from '../../components/status.tsx'
import { Tabs } from '../../components/tabs.tsx'
import { Time } from '../../components/time.tsx'
import { useSession } from '../../session/session.ts'
import { duckDbLines } from './duckdb.ts'
import styles from './feed-screen.module.css'
import { type Feed, feedsQuery, lagOf } from './feeds-query.ts'
import { type Change, type LiveFeed, useLiveFeed } from './live-feed.ts'
import { type SchemaField, schemaFields } from './schema-fields.ts'

const route = getRouteApi('/feeds/$readModel')

const tones = { connecting: 'warn', live: 'active', paused: 'neutral', failed: 'bad' } as const
const labels = {
  connecting: 'Connecting',
  live: 'Live',
  paused: 'Paused',
  failed: 'Failed',
} as const satisfies Record<LiveFeed['state'], string>

const ChangeItem = ({ change }: { change: Change }) => {
  const [isOpen, setOpen] = useState(false)
  const isDelete = change.op === 'delete'
  return (
    <li>
      <details className={styles.change} onToggle={(event) => setOpen(event.currentTarget.open)}>
        <summary>
          <Status
            status={change.op}
            tone={isDelete ? 'bad' : 'good'}
            label={isDelete ? 'Delete' : 'Upsert'}
          />
          <span className="mono truncate" title={change.id}>
            {change.id}
          </span>
          <span className="soft number">{change.position}</span>
          <Time at={change.at} />
        </summary>
        {isOpen && (
          <div className={styles.document}>
            {isDelete ? (
              <p className="soft">The document was deleted.</p>
            ) : (
              <JsonBlock title="Document" value={change.document} />
            )}
          </div>
        )}
      </details>
    </li>
  )
}

const LiveTab = ({ path }: { path: string }) => {
  const [isPaused, setPaused] = useState(false)
  const { state, error, changes, total } = useLiveFeed(path, isPaused)
  return (
    <div className="stack">
      <div className={styles.bar}>
        <div className="row">
          <Status status={state} tone={tones[state]} label={labels[state]} />
          <span className="soft small" role="status">
            {total === 1 ? '1 change' : `${total} changes`} since this page was opened
          </span>
        </div>
        <Button onPress={() => setPaused(!isPaused)}>{isPaused ? 'Resume' : 'Pause'}</Button>
      </div>
      {state === 'failed' && <ErrorState error={error} title="The feed cannot be followed" />}
      {changes.length === 0 && state !== 'failed' && (
        <EmptyState icon="feeds" title="No changes yet">
          Each change of this read model appears here as it happens, for example when somebody sends
          a message.
        </EmptyState>
      )}
      {changes.length > 0 && (
        <ul className={styles.changes} aria-label="Changes">
          {changes.map((change) => (
            <ChangeItem key={change.number} change={change} />
          ))}
        </ul>
      )}
    </div>
  )
}

const fieldColumns: Column<SchemaField>[] = [
  {
    id: 'name',
    header: 'Field',
    meta: { main: true },
    cell: ({ row: { original } }) => <code>{original.name}</code>,
  },
  { id: 'type', header: 'Type', cell: ({ row: { original } }) => original.type },
  {
    id: 'description',
    header: 'Description',
    cell: ({ row: { original } }) => <span className="soft">{original.description}</span>,
  },
]

const SchemaTab = ({ feed }: { feed: Feed }) => (
  <div className="stack">
    <DataTable
      label={`Fields of ${feed.read_model}`}
      columns={fieldColumns}
      rows={schemaFields(feed.schema)}
      rowId={({ name }) => name}
    />
    <JsonBlock title="JSON Schema" value={feed.schema} />
  </div>
)

const ReadTab = ({ feed, path }: { feed: Feed; path: string }) => {
  const url = new URL(path, window.location.origin).href
  const { origin } = window.location
  return (
    <div className="stack">
      <p className="soft">
        Put an API key with the scope <code>admin:read</code> into <code>REPRISE_API_KEY</code>.
      </p>
      <CodeBlock
        title="curl, every document up to now"
        code={`${asCurl({ url, headers: { Accept: 'application/x-ndjson' } }, origin)} > ${feed.read_model}.ndjson`}
      />
      <CodeBlock title="DuckDB, from that file" code={duckDbLines(feed)} />
      <CodeBlock
        title="curl, changes as they happen"
        code={asCurl(
          { url: `${url}?snapshot=false`, headers: { Accept: 'text/event-stream' } },
          origin,
        )}
      />
      <CodeBlock
        title="curl, a table for a spreadsheet"
        code={`${asCurl({ url: `${url}?formulas=escape`, headers: { Accept: 'text/csv' } }, origin)} > ${feed.read_model}.csv`}
      />
    </div>
  )
}

/** One read model: its changes as they happen, its fields, and how to read it elsewhere. */
export const FeedScreen = () => {
  const { readModel } = route.useParams()
  const { tab = 'live' } = route.useSearch()
  const navigate = route.useNavigate()
  const { can, organizationId } = useSession()
  const isAllowed = can('admin:read')
  const query = useQuery({ ...feedsQuery(organizationId), enabled: isAllowed })
  const path = feedPath(organizationId, readModel)
  const back = <Link to="/feeds">Feeds</Link>
  if (!isAllowed)
    return (
      <Page title={readModel} back={back}>
        <ForbiddenState scope="admin:read" what="feeds" />
      </Page>
    )
  return (
    <Page title={readModel} back={back}>
      <QueryView query={query} skeleton={<Skeleton lines={8} height="1.5rem" />}>
        {(feeds) => {
          const feed = feeds.find(({ read_model }) => read_model === readModel)
          if (!feed)
            return (
              <EmptyState icon="search" title="There is no such read model" action={back}>
                {readModel}
              </EmptyState>
            )
          return (
            <>
              <dl className={styles.facts}>
                <div>
                  <dt>State</dt>
                  <dd>
                    <Status
                      status="lag"
                      tone={feed.lag === 0 ? 'good' : 'active'}
                      label={lagOf(feed)}
                    />
                  </dd>
                </div>
                <div>
                  <dt>Position</dt>
                  <dd>
                    <Count of={feed.position} />
                  </dd>
                </div>
              </dl>
              <Tabs
                label={readModel}
                selected={tab}
                onSelect={(id) => void navigate({ search: { tab: id }, replace: true })}
                tabs={[
                  { id: 'live', label: 'Live', content: <LiveTab path={path} /> },
                  { id: 'schema', label: 'Schema', content: <SchemaTab feed={feed} /> },
                  {
                    id: 'read',
                    label: 'Read elsewhere',
                    content: <ReadTab feed={feed} path={path} />,
                  },
                ]}
              />
            </>
          )
        }}
      </QueryView>
    </Page>
  )
}
