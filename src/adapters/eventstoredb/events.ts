import {
  type Position as AllPosition,
  type AllStreamResolvedEvent,
  type ReadPosition,
  type ResolvedEvent,
  START as startOfAll,
} from '@eventstore/db-client'
import { z } from 'zod'
import type { Metadata, Position } from '../../domain/event.ts'
import { type RecordedEvent, START, StoreDamaged } from '../../ports/event-store.ts'
import type { Namespace } from './namespace.ts'

export type Resolved = AllStreamResolvedEvent | ResolvedEvent

/** What no event of ours is without. */
const ours = z.looseObject({ organization_id: z.string(), schema_version: z.number() })

/**
 * Where an event stands in $all, as one number. Through gRPC the commit position of every event is
 * its own; only explicit transactions of the old TCP interface have events that share one.
 * @throws StoreDamaged for such an event.
 */
export const positionOf = ({ commit, prepare }: AllPosition): Position => {
  const position = Number(commit)
  if (commit !== prepare || !Number.isSafeInteger(position))
    throw new StoreDamaged(`C:${commit}/P:${prepare} in $all is not a position of one event`)
  return position as Position
}

/** Where in $all what was read stands: an event, or a checkpoint, which has no event. */
export const placeOf = (resolved: Resolved | undefined): Position => {
  const commit = resolved?.event?.position?.commit ?? resolved?.commitPosition
  return commit === undefined ? START : (Number(commit) as Position)
}

/** A position as the client wants it. Subscriptions go on after it, reads begin with it. */
export const fromPosition = (position: number): ReadPosition =>
  position < 0 ? startOfAll : { commit: BigInt(position), prepare: BigInt(position) }

/** Whether an event's stream is in a namespace. Not so for the server's own (`$…`). */
export const isIn = (namespace: Namespace, { event }: Resolved): boolean =>
  event !== undefined && namespace.has(event.streamId)

/** Whether this application wrote an event of its namespace: as JSON, with our metadata. */
export const isOurs = ({ event }: Resolved): boolean =>
  event?.isJson === true && ours.safeParse(event.metadata).success

/** @throws StoreDamaged when the server tells no position (before 22.6) or one of a transaction. */
export const recorded = (namespace: Namespace, { event }: Resolved): RecordedEvent => {
  if (!event?.position) throw new StoreDamaged('an event came without its position in $all')
  const { id, type, data, streamId, revision, position } = event
  return {
    id,
    type,
    data,
    metadata: event.metadata as Metadata,
    stream: namespace.inPort(streamId),
    revision: Number(revision),
    position: positionOf(position),
  }
}
