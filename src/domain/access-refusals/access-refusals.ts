import { type Aggregate, streamOf } from '../aggregate.ts'
import { refusalEvents } from './events.ts'

/** What a key was refused in an organization. A record only: no decision reads it. */
type Refusals = Readonly<Record<string, never>>

const same = (state: Refusals): Refusals => state

const refusals: Aggregate<Refusals, typeof refusalEvents> = {
  category: 'refusals',
  events: refusalEvents,
  initial: {},
  evolve: { AccessRefused: same, AccessRefusedAgain: same, AccessRefusalsSummarized: same },
}

/** The platform's key has no id. */
export const refusalsStream = (organizationId: string, keyId: string | null) =>
  streamOf(refusals, organizationId, keyId ?? 'platform')

/** Refused access of an organization's keys, beyond the kinds that are counted apart. */
export const refusalsSummaryStream = (organizationId: string) =>
  streamOf(refusals, organizationId, 'summary')
