import type { Position } from '../domain/event.ts'
import type { Facts } from '../domain/refusal.ts'
import { Refusal } from '../domain/refusal.ts'
import type { RefusalCode } from '../domain/refusal-words.ts'
import { StoreDamaged, StoreUnavailable, UnreadableEvent } from '../ports/event-store.ts'

/** An error between threads, with all that determines its answer. */
export type PackedError =
  | { kind: 'refusal'; code: RefusalCode; facts: Facts }
  | { kind: 'unavailable'; message: string }
  | { kind: 'damaged'; message: string; position?: Position | undefined }
  | { kind: 'unreadable'; place: UnreadableEvent['place']; reason: string }
  | { kind: 'other'; name: string; message: string; stack?: string | undefined }

export const packedError = (error: unknown): PackedError => {
  if (error instanceof Refusal) return { kind: 'refusal', code: error.code, facts: error.facts }
  if (error instanceof StoreUnavailable) return { kind: 'unavailable', message: error.message }
  if (error instanceof StoreDamaged)
    return { kind: 'damaged', message: error.message, position: error.position }
  if (error instanceof UnreadableEvent)
    return { kind: 'unreadable', place: error.place, reason: error.reason }
  if (!(error instanceof Error)) return { kind: 'other', name: 'Error', message: String(error) }
  const { name, message, stack } = error
  return { kind: 'other', name, message, stack }
}

export const unpackedError = (packed: PackedError): Error => {
  switch (packed.kind) {
    case 'refusal':
      return new Refusal(packed.code, packed.facts)
    case 'unavailable':
      return new StoreUnavailable(packed.message)
    case 'damaged': {
      const { message, position } = packed
      return new StoreDamaged(message, position === undefined ? {} : { position })
    }
    case 'unreadable':
      return new UnreadableEvent(packed.place, packed.reason)
    case 'other': {
      const { name, message, stack } = packed
      return Object.assign(new Error(message), { name }, stack === undefined ? {} : { stack })
    }
  }
}
