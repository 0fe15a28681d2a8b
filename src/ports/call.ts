import { type Metadata, platformId } from '../domain/event.ts'
import { isoTime } from '../support/iso-time.ts'
import type { TraceContext } from './telemetry.ts'

/**
 * Who is asking, for whom, when, and under which request. Made once per request by http, per tick
 * by jobs, per item by workers; every event that follows carries it as metadata.
 */
export type Call = {
  /** The resolved organization, or `platform`. */
  organizationId: string
  /** The API key; null for the platform key, jobs and workers. */
  keyId: string | null
  /** The key's backing user: pays, and is the actor in the log. */
  userId: string | null
  /** The user acted for; ownership of what is made goes to this user, else to `userId`. */
  onBehalfOf: string | null
  requestId: string
  /** Joins everything that one request set off. */
  correlationId: string
  /** The request, job tick or event that this call follows from. */
  causationId: string
  /** When it was asked for, in ISO 8601. Its events are stamped when they are appended. */
  at: string
  /**
   * Set where the same call may come twice (an idempotency key, a worker): event ids are then
   * derived from it (UUIDv5), so that the store keeps the first and drops the second.
   */
  scope?: string
  /** The trace that it is part of: given by the client, or of our own span. */
  trace?: TraceContext
}

type Actor = Pick<Call, 'organizationId' | 'keyId' | 'userId'>

/** The first call of a chain: the calls that follow are traced to `id`. */
export const rootCall = ({ organizationId, keyId, userId }: Actor, id: string, at: Date): Call => ({
  organizationId,
  keyId,
  userId,
  onBehalfOf: null,
  requestId: id,
  correlationId: id,
  causationId: id,
  at: isoTime(at.getTime()),
})

/** What a job or a worker does of its own accord, for an organization or for the platform. */
export const systemCall = (id: string, at: Date, organizationId = platformId): Call =>
  rootCall({ organizationId, keyId: null, userId: null }, id, at)

/** The same call for what belongs to no organization: their histories do not tell of it. */
export const platformOf = (call: Call): Call => ({ ...call, organizationId: platformId })

/** The user whose sessions, messages and memory a call works on. */
export const actingUser = (call: Call): string | null => call.onBehalfOf ?? call.userId

export const metadataOf = (call: Call, schemaVersion: number, at: string): Metadata => {
  const metadata: Metadata = {
    organization_id: call.organizationId,
    actor: { key_id: call.keyId, user_id: call.userId },
    on_behalf_of: call.onBehalfOf,
    request_id: call.requestId,
    $correlationId: call.correlationId,
    $causationId: call.causationId,
    schema_version: schemaVersion,
    at,
  }
  if (call.trace) metadata.trace_id = call.trace.traceId
  return metadata
}

/** The same call, for what follows from `causationId`. */
export const following = (call: Call, causationId: string): Call => ({ ...call, causationId })
