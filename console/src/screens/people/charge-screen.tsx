import { useQuery } from '@tanstack/react-query'
import { getRouteApi, Link } from '@tanstack/react-router'
import type { ReactNode } from 'react'
import { agentNamesQuery } from '../../api/agents.ts'
import {
  type Charge,
  chargesQuery,
  type EventRef,
  nameOf,
  type Source,
  type Term,
} from '../../api/charges.ts'
import { memberNamesQuery } from '../../api/members.ts'
import { Count, Credits } from '../../components/amounts.tsx'
import { CopyButton } from '../../components/code-block.tsx'
import { type Column, DataTable } from '../../components/data-table.tsx'
import { Page } from '../../components/page.tsx'
import { EmptyState, ForbiddenState, QueryView, Skeleton } from '../../components/states.tsx'
import { Status } from '../../components/status.tsx'
import { Time } from '../../components/time.tsx'
import { formatCredits, formatNumber } from '../../format/numbers.ts'
import { useSession } from '../../session/session.ts'
import styles from './people.module.css'

const route = getRouteApi('/charges/$runId')

const EventLink = ({ event }: { event: EventRef }) => (
  <Link
    to="/history"
    search={{ after: String(event.position - 1), order: 'asc' }}
    title={event.event_id}
  >
    {event.type}
  </Link>
)

const lists = { configured: 'Configured', built_in: 'Built-in', default: 'Default' } as const

const reasons = {
  generation: 'Fixed price',
  limit: 'Above the limit, not charged',
  adjustment: 'Not explained by a readable event',
} as const

const calculationOf = (term: Term): string => {
  if (term.kind !== 'model') return reasons[term.kind]
  const { prompt_tokens, completion_tokens, price, product } = term
  if (!price) return 'Price not recorded'
  const sum = `${formatNumber(prompt_tokens)} × ${price.prompt} + ${formatNumber(completion_tokens)} × ${price.completion}`
  return `${sum} = ${formatNumber(product)} micro-credits`
}

const termColumns: Column<Term>[] = [
  {
    id: 'name',
    header: 'Item',
    meta: { main: true },
    cell: ({ row: { original } }) => nameOf(original),
  },
  {
    id: 'calculation',
    header: 'Tokens × price',
    cell: ({ row: { original } }) => <span className="number">{calculationOf(original)}</span>,
  },
  {
    id: 'list',
    header: 'Price list',
    meta: { priority: 'medium' },
    cell: ({ row: { original } }) => {
      const list = original.kind === 'model' ? original.price?.list : null
      return list ? lists[list] : '–'
    },
  },
  {
    id: 'credits',
    header: 'Credits',
    meta: { align: 'end' },
    cell: ({ row: { original } }) => <Credits amount={original.credits} />,
  },
]

type SourceRow = EventRef & Partial<Source> & { item: string }

const sourceColumns: Column<SourceRow>[] = [
  {
    id: 'event',
    header: 'Event',
    meta: { main: true },
    cell: ({ row: { original } }) => <EventLink event={original} />,
  },
  {
    id: 'position',
    header: 'Position',
    meta: { align: 'end' },
    cell: ({ row: { original } }) => <span className="number">{original.position}</span>,
  },
  {
    id: 'item',
    header: 'Item',
    meta: { priority: 'medium' },
    cell: ({ row: { original } }) => original.item,
  },
  {
    id: 'agent',
    header: 'Agent',
    meta: { priority: 'medium' },
    cell: ({ row: { original } }) => <span dir="auto">{original.agent_name ?? '–'}</span>,
  },
  {
    id: 'in',
    header: 'Tokens in',
    meta: { align: 'end' },
    cell: ({ row: { original } }) => <Count of={original.prompt_tokens} />,
  },
  {
    id: 'out',
    header: 'Tokens out',
    meta: { align: 'end' },
    cell: ({ row: { original } }) => <Count of={original.completion_tokens} />,
  },
  {
    id: 'at',
    header: 'Time',
    meta: { priority: 'medium' },
    cell: ({ row: { original } }) => <Time at={original.at} />,
  },
]

const Fact = ({ label, children }: { label: string; children: ReactNode }) => (
  <div>
    <dt>{label}</dt>
    <dd>{children}</dd>
  </div>
)

const titleOf = ({ kind, attempt }: Charge): string =>
  kind === 'run' ? 'Run' : `Generated content${attempt === null ? '' : `, attempt ${attempt}`}`

const ChargeCard = ({ charge }: { charge: Charge }) => {
  const { organizationId } = useSession()
  const { data: members } = useQuery(memberNamesQuery(organizationId))
  const { data: agents } = useQuery(agentNamesQuery(organizationId))
  const { terms, started_by, stated_by, settled_by, payer_user_id, agent_id } = charge
  const sources = terms.flatMap((term): SourceRow[] =>
    term.sources.map((source) => ({ ...source, item: nameOf(term) })),
  )
  const more = terms.reduce(
    (count, term) => count + (term.kind === 'model' ? term.source_count - term.sources.length : 0),
    0,
  )
  return (
    <section className="stack">
      <div className={styles.bar}>
        <div className="row">
          <h2>{titleOf(charge)}</h2>
          <Status status={charge.status} />
        </div>
        <strong className="number">{formatCredits(charge.credits)} credits</strong>
      </div>
      <dl className={styles.facts}>
        <Fact label="Paid by">
          <span dir="auto">{members?.get(payer_user_id) ?? payer_user_id}</span>
        </Fact>
        {agent_id && (
          <Fact label="Agent">
            <span dir="auto">{agents?.get(agent_id) ?? agent_id}</span>
          </Fact>
        )}
        <Fact label="Tokens">
          {formatNumber(charge.prompt_tokens)} in, {formatNumber(charge.completion_tokens)} out
        </Fact>
        <Fact label="Started by">
          <EventLink event={started_by} />
        </Fact>
        <Fact label="Charge stated by">
          {stated_by ? <EventLink event={stated_by} /> : 'Still open'}
        </Fact>
        <Fact label="Settled by">
          {settled_by ? <EventLink event={settled_by} /> : 'Not yet settled'}
        </Fact>
      </dl>
      <DataTable
        label={`Calculation of ${titleOf(charge).toLowerCase()}`}
        columns={termColumns}
        rows={terms}
        rowId={(term) => `${term.kind} ${nameOf(term)}`}
        empty={<p className="soft">Nothing was charged.</p>}
      />
      {sources.length > 0 && (
        <>
          <h3>Source events</h3>
          <DataTable
            label={`Events of ${titleOf(charge).toLowerCase()}`}
            columns={sourceColumns}
            rows={sources}
            rowId={({ event_id, item }) => `${event_id} ${item}`}
            linked
          />
          {more > 0 && <p className="soft small">{formatNumber(more)} more are not listed.</p>}
        </>
      )}
    </section>
  )
}

const unit = 'Prices are in credits per million tokens, which are micro-credits per token.'

/** What a run cost, down to the events. */
export const ChargeScreen = () => {
  const { runId } = route.useParams()
  const { can, isManager, organizationId } = useSession()
  const isAllowed = can('admin:read') && isManager
  const query = useQuery({ ...chargesQuery(organizationId, runId), enabled: isAllowed })
  return (
    <Page
      title="Charge"
      description={unit}
      back={
        <Link to="/people" search={{ tab: 'credits' }}>
          Credits
        </Link>
      }
    >
      {isAllowed ? (
        <QueryView query={query} skeleton={<Skeleton lines={8} height="1.5rem" />}>
          {({ credits, micro_credits, charges, has_more }) => (
            <>
              <dl className={styles.facts}>
                <Fact label="Total">
                  <strong>{formatCredits(credits)} credits</strong>{' '}
                  <span className="soft">({formatNumber(micro_credits)} micro-credits)</span>
                </Fact>
                <Fact label="Run">
                  <span className={styles.inline}>
                    <Link to="/runs/$runId" params={{ runId }} className="mono">
                      {runId}
                    </Link>
                    <CopyButton text={runId} what="Run id" />
                  </span>
                </Fact>
              </dl>
              {charges.length === 0 && <EmptyState icon="info" title="Nothing was charged" />}
              {charges.map((charge) => (
                <ChargeCard key={charge.reservation_id} charge={charge} />
              ))}
              {has_more && (
                <p className="soft">The run requested more items, which are not listed.</p>
              )}
            </>
          )}
        </QueryView>
      ) : (
        <ForbiddenState
          what="charges"
          message="It needs the scope admin:read and the role of an owner or admin."
        />
      )}
    </Page>
  )
}
