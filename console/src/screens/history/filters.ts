import { z } from 'zod'

const text = z.string().min(1).max(200).optional().catch(undefined)
const time = z.iso.datetime({ offset: true }).optional().catch(undefined)

/** What the list of events is narrowed by, as the API and the address have it. */
export const eventFilters = z.object({
  type: text,
  actor: text,
  from: time,
  to: time,
  request_id: text,
  session_id: text,
  model: text,
  agent_id: text,
  run_id: text,
  /** Absent: the newest first. */
  order: z.enum(['asc']).optional().catch(undefined),
})

export type EventFilters = z.infer<typeof eventFilters>

/** Only the filters that are set. */
export const filtersOf = (search: EventFilters): EventFilters => eventFilters.parse(search)

export const isFiltered = (filters: EventFilters): boolean =>
  Object.values(filters).some((value) => value !== undefined)

const twoDigits = (value: number): string => String(value).padStart(2, '0')

/** A time as a field for date and time has it, in the zone of the browser. */
export const toLocal = (iso: string | undefined): string => {
  if (iso === undefined) return ''
  const at = new Date(iso)
  if (Number.isNaN(at.getTime())) return ''
  const day = [at.getFullYear(), twoDigits(at.getMonth() + 1), twoDigits(at.getDate())].join('-')
  const clock = [at.getHours(), at.getMinutes(), at.getSeconds()].map(twoDigits).join(':')
  return `${day}T${clock}`
}

/** The reverse; undefined where the field is empty or incomplete. */
export const fromLocal = (local: string): string | undefined => {
  const at = new Date(local)
  return local === '' || Number.isNaN(at.getTime()) ? undefined : at.toISOString()
}
