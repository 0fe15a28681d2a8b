import { StoreUnavailable } from '../ports/event-store.ts'

/** Remembers since when the event store cannot be written. */
export const watchedAppends = () => {
  let failing: Date | undefined
  return {
    stored(): void {
      failing = undefined
    },
    /** `at`: the time of the events that were not stored, in ISO 8601. */
    failed(error: unknown, at: string): void {
      if (error instanceof StoreUnavailable) failing ??= new Date(at)
    },
    /** When the first append failed after the last one that was stored; undefined: all is well. */
    failingSince: (): Date | undefined => failing,
  }
}

export type WatchedAppends = ReturnType<typeof watchedAppends>
