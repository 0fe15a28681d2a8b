import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { asCurl } from '../../api/as-curl.ts'
import { Button } from '../../components/button.tsx'
import { CodeBlock, JsonBlock } from '../../components/code-block.tsx'
import { EmptyState, QueryView, Skeleton } from '../../components/states.tsx'
import { useSession } from '../../session/session.ts'
import type { RunSummary } from '../runs/runs-queries.ts'
import { runEventsQuery } from './run-queries.ts'
import type { Step } from './steps.ts'

/** Items of a list that are shown as JSON; the curl line gets all of them. */
const firstItems = 50

const Events = ({ run }: { run: RunSummary }) => {
  const { organizationId } = useSession()
  const query = useQuery(runEventsQuery(organizationId, run))
  return (
    <QueryView query={query} skeleton={<Skeleton height="12rem" />}>
      {(events) =>
        events.length === 0 ? (
          <EmptyState title="No events" />
        ) : (
          <JsonBlock
            title={
              events.length > firstItems
                ? `First ${firstItems} of ${events.length} events`
                : `${events.length} events`
            }
            value={events.slice(0, firstItems)}
          />
        )
      }
    </QueryView>
  )
}

type JsonTabProps = { run: RunSummary; steps: readonly Step[] }

/** The same as the API answers it, and how to ask it. */
export const JsonTab = ({ run, steps }: JsonTabProps) => {
  const { organizationId } = useSession()
  const [hasEvents, setEvents] = useState(false)
  const organization = `/api/admin/organizations/${organizationId}`
  const session = encodeURIComponent(run.session_id)
  const { origin } = window.location
  const events = `${organization}/audit/events?run_id=${run.run_id}`
  const lines = [
    { title: 'Run', url: `${organization}/runs/${run.run_id}` },
    { title: 'Messages', url: `/api/external/sessions/${session}/messages` },
    { title: 'Events', url: events },
  ]
  return (
    <div className="stack">
      {lines.map(({ title, url }) => (
        <CodeBlock key={title} title={`${title} with curl`} code={asCurl({ url }, origin)} wrap />
      ))}
      <JsonBlock title="Run" value={run} />
      <JsonBlock
        title={steps.length > firstItems ? `First ${firstItems} of ${steps.length} steps` : 'Steps'}
        value={steps.slice(0, firstItems)}
      />
      {hasEvents ? (
        <Events run={run} />
      ) : (
        <div>
          <Button onPress={() => setEvents(true)}>Load the events</Button>
        </div>
      )}
    </div>
  )
}
