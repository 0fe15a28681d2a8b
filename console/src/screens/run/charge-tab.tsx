import { useQuery } from '@tanstack/react-query'
import { useMemo, useState } from 'react'
import { asCurl } from '../../api/as-curl.ts'
import {
  type Charge,
  chargesQuery,
  type ModelTerm,
  nameOf,
  type Source,
  type Term,
} from '../../api/charges.ts'
import { Count, Credits } from '../../components/amounts.tsx'
import { Button } from '../../components/button.tsx'
import { CodeBlock } from '../../components/code-block.tsx'
import { type Column, DataTable } from '../../components/data-table.tsx'
import { EmptyState, QueryView, Skeleton } from '../../components/states.tsx'
import { Status } from '../../components/status.tsx'
import { Time } from '../../components/time.tsx'
import { formatNumber } from '../../format/numbers.ts'
import { useSession } from '../../session/session.ts'
import type { RunSummary } from '../runs/runs-queries.ts'
import styles from './run.module.css'
import { isOpen } from './run-queries.ts'

const lists = {
  configured: 'configured price',
  built_in: 'built-in price',
  default: 'default price',
} as const

const reasons = {
  generation: 'Fixed price of one item',
  limit: 'Beyond the limit of credits, not charged',
  adjustment: 'No readable event explains it',
} as const

/** `216 × 2.5 + 76 × 10 = 1,300 millionths`: the sum as it was done. */
const sumOf = (term: Term): string => {
  if (term.kind !== 'model') return reasons[term.kind]
  const { prompt_tokens: input, completion_tokens: output, price, product } = term
  if (!price) return 'The price was not recorded'
  const parts = `${formatNumber(input)} × ${price.prompt} + ${formatNumber(output)} × ${price.completion}`
  return `${parts} = ${formatNumber(product)} millionths`
}

const termColumns: Column<Term>[] = [
  {
    id: 'name',
    header: 'What',
    meta: { main: true },
    cell: ({ row }) => <span dir="auto">{nameOf(row.original)}</span>,
  },
  {
    id: 'sum',
    header: 'Calculation',
    cell: ({ row: { original } }) => (
      <span className="number">
        {sumOf(original)}
        {original.kind === 'model' && original.price?.list && (
          <span className="soft"> ({lists[original.price.list]})</span>
        )}
      </span>
    ),
  },
  {
    id: 'credits',
    header: 'Credits',
    meta: { align: 'end' },
    cell: ({ row }) => <Credits amount={row.original.credits} />,
  },
]

const sourceColumns: Column<Source>[] = [
  {
    id: 'agent',
    header: 'Answer of',
    meta: { main: true },
    cell: ({ row }) => <span dir="auto">{row.original.agent_name ?? '–'}</span>,
  },
  { id: 'at', header: 'Time', cell: ({ row }) => <Time at={row.original.at} /> },
  {
    id: 'in',
    header: 'Tokens in',
    meta: { align: 'end' },
    cell: ({ row }) => <Count of={row.original.prompt_tokens} />,
  },
  {
    id: 'out',
    header: 'Tokens out',
    meta: { align: 'end' },
    cell: ({ row }) => <Count of={row.original.completion_tokens} />,
  },
  {
    id: 'event',
    header: 'Event',
    meta: { priority: 'medium' },
    cell: ({ row: { original } }) => (
      <span title={original.event_id}>
        {original.type} at position {formatNumber(original.position)}
        {original.estimated && ' (estimated)'}
      </span>
    ),
  },
]

const firstSources = 20

const Sources = ({ term }: { term: ModelTerm }) => {
  const [isWhole, setWhole] = useState(false)
  const rows = isWhole ? term.sources : term.sources.slice(0, firstSources)
  return (
    <>
      <DataTable
        label={`Answers of ${term.model}`}
        columns={sourceColumns}
        rows={rows}
        rowId={({ event_id }) => event_id}
        empty={<EmptyState title="No answers" />}
      />
      {rows.length < term.sources.length && (
        <div>
          <Button onPress={() => setWhole(true)}>
            Show all {formatNumber(term.sources.length)} answers
          </Button>
        </div>
      )}
    </>
  )
}

const titleOf = ({ kind, attempt }: Charge): string =>
  kind === 'run' ? 'Answers of models' : `Generated content, attempt ${attempt ?? 1}`

const eventsOf = ({ started_by, stated_by, settled_by }: Charge) => [
  { name: 'Started by', event: started_by },
  { name: 'Stated by', event: stated_by },
  { name: 'Settled by', event: settled_by },
]

const ChargeView = ({ charge }: { charge: Charge }) => (
  <section className="stack" aria-label={titleOf(charge)}>
    <div className="row">
      <h2>{titleOf(charge)}</h2>
      <Status status={charge.status} {...(charge.status === 'open' ? { tone: 'active' } : {})} />
      <span>
        <Credits amount={charge.credits} /> credits
      </span>
    </div>
    <DataTable
      label="Parts of the charge"
      columns={termColumns}
      rows={charge.terms}
      rowId={(term) => `${term.kind} ${nameOf(term)}`}
      empty={<p className="soft">Nothing was charged.</p>}
    />
    {charge.terms.map((term) => term.kind === 'model' && <Sources key={term.model} term={term} />)}
    <dl className={styles.chargeEvents}>
      {eventsOf(charge).map(({ name, event }) => (
        <div key={name}>
          <dt>{name}</dt>
          <dd title={event?.event_id}>
            {event ? `${event.type} at position ${formatNumber(event.position)}` : 'Not yet'}
          </dd>
        </div>
      ))}
    </dl>
  </section>
)

/** The charge of a run down to its events. */
export const ChargeTab = ({ run }: { run: RunSummary }) => {
  const { organizationId } = useSession()
  const query = useQuery({
    ...chargesQuery(organizationId, run.run_id),
    queryKey: ['charges', organizationId, run.run_id, run.status],
    refetchInterval: isOpen(run) ? 5_000 : false,
  })
  const curl = useMemo(() => {
    const url = `/api/admin/organizations/${organizationId}/audit/charges?run_id=${run.run_id}`
    return asCurl({ url }, window.location.origin)
  }, [organizationId, run.run_id])
  return (
    <QueryView query={query} skeleton={<Skeleton height="16rem" />}>
      {({ charges, credits, micro_credits, has_more }) => (
        <div className="stack">
          <p>
            <strong>
              <Credits amount={credits} /> credits
            </strong>{' '}
            <span className="soft">({formatNumber(micro_credits)} millionths)</span>
          </p>
          {charges.map((charge) => (
            <ChargeView key={`${charge.reservation_id} ${charge.attempt}`} charge={charge} />
          ))}
          {has_more && <p className="soft">There are further generated items.</p>}
          <CodeBlock title="Charges with curl" code={curl} wrap />
        </div>
      )}
    </QueryView>
  )
}
