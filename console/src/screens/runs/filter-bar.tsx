import { useQuery } from '@tanstack/react-query'
import { useEffect, useState } from 'react'
import { agentsQuery } from '../../api/agents.ts'
import { memberNamesQuery } from '../../api/members.ts'
import { Button } from '../../components/button.tsx'
import { ChoiceBar } from '../../components/choice-bar.tsx'
import { Select, TextField } from '../../components/fields.tsx'
import { useSession } from '../../session/session.ts'
import { isFiltered, type RunFilters, runStatuses, timeRanges } from './filters.ts'
import styles from './runs.module.css'
import { modelsQuery } from './runs-queries.ts'

const statusNames = {
  queued: 'Queued',
  running: 'Running',
  awaiting_approval: 'Awaiting approval',
  in_doubt: 'In doubt',
  completed: 'Completed',
  failed: 'Failed',
  cancelled: 'Cancelled',
  timed_out: 'Timed out',
} as const

const statuses = [
  { id: 'all', label: 'All' },
  ...(['failed', ...runStatuses.filter((status) => status !== 'failed')] as const).map((id) => ({
    id,
    label: statusNames[id],
  })),
] as const

const ranges = [
  { id: 'all', label: 'Any time' },
  ...timeRanges,
  { id: 'custom', label: 'Between days' },
] as const

type TextFilterProps = {
  label: string
  value: string | undefined
  onChange: (value: string | undefined) => void
}

/** An id, which counts once it is complete: with Enter or when the field is left. */
const TextFilter = ({ label, value = '', onChange }: TextFilterProps) => {
  const [text, setText] = useState(value)
  useEffect(() => setText(value), [value])
  const commit = () => {
    const id = text.trim().slice(0, 200)
    if (id !== value) onChange(id || undefined)
  }
  return (
    <TextField
      label={label}
      value={text}
      onChange={setText}
      onBlur={commit}
      onKeyDown={({ key }) => key === 'Enter' && commit()}
      placeholder="Any"
      mono={text !== ''}
    />
  )
}

type Choices = readonly { id: string; label: string }[]

/** The options with the chosen one, also where the list does not have it (any more). */
const withChosen = (options: Choices, chosen: string | undefined): Choices =>
  chosen === undefined || options.some(({ id }) => id === chosen)
    ? options
    : [...options, { id: chosen, label: chosen }]

type FilterBarProps = { filters: RunFilters; onChange: (filters: RunFilters) => void }

/** What the list of runs is narrowed by; each change is in the address. */
export const FilterBar = ({ filters, onChange }: FilterBarProps) => {
  const { organizationId } = useSession()
  const { data: agents } = useQuery({ ...agentsQuery(organizationId), staleTime: 30_000 })
  const { data: models } = useQuery(modelsQuery(organizationId))
  const { data: members } = useQuery(memberNamesQuery(organizationId))
  const set = (change: { [Field in keyof RunFilters]?: RunFilters[Field] | undefined }) =>
    onChange({ ...filters, ...change } as RunFilters)
  const optional = (id: string) => (id === 'all' ? undefined : id)
  const agentOptions = (agents ?? []).map(({ agent_id: id, name }) => ({ id, label: name }))
  const modelOptions = (models ?? []).map((id) => ({ id, label: id }))
  const memberOptions = [...(members ?? [])].map(([id, label]) => ({ id, label }))
  return (
    <search className={styles.filters} aria-label="Filters">
      <ChoiceBar
        label="Status"
        options={statuses}
        value={filters.status ?? 'all'}
        onChange={(id) => set({ status: id === 'all' ? undefined : id })}
      />
      <div className={styles.fields}>
        <Select
          label="Started"
          options={ranges}
          value={filters.range ?? 'all'}
          onChange={(id) =>
            set({ range: id === 'all' ? undefined : id, from: undefined, to: undefined })
          }
        />
        {filters.range === 'custom' && (
          <>
            <TextField
              label="First day"
              type="date"
              value={filters.from ?? ''}
              onChange={(from) => set({ from: from || undefined })}
            />
            <TextField
              label="Last day"
              type="date"
              value={filters.to ?? ''}
              onChange={(to) => set({ to: to || undefined })}
            />
          </>
        )}
        <Select
          label="Agent"
          options={withChosen([{ id: 'all', label: 'Any' }, ...agentOptions], filters.agent_id)}
          value={filters.agent_id ?? 'all'}
          onChange={(id) => set({ agent_id: optional(id) })}
        />
        <Select
          label="Model"
          options={withChosen([{ id: 'all', label: 'Any' }, ...modelOptions], filters.model)}
          value={filters.model ?? 'all'}
          onChange={(id) => set({ model: optional(id) })}
        />
        <Select
          label="User"
          options={withChosen([{ id: 'all', label: 'Any' }, ...memberOptions], filters.user_id)}
          value={filters.user_id ?? 'all'}
          onChange={(id) => set({ user_id: optional(id) })}
        />
        <TextFilter
          label="Session"
          value={filters.session_id}
          onChange={(session_id) => set({ session_id })}
        />
        <div className={styles.clear}>
          <Button
            kind="quiet"
            icon="close"
            isDisabled={!isFiltered(filters)}
            onPress={() => onChange(filters.sort ? { sort: filters.sort } : {})}
          >
            Clear filters
          </Button>
        </div>
      </div>
    </search>
  )
}
