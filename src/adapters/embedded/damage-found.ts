import type { Position } from '../../domain/event.ts'
import type { Damage } from '../../ports/damage.ts'
import { StoreDamaged } from '../../ports/event-store.ts'
import { explained } from './lmdb-errors.ts'

/** So many places are named at most. */
const mostPlaces = 1_000

/** What was found damaged in a data file: each place once. */
export const damageFound = (file: string) => {
  const places = new Map<string, Damage>()
  let isFaulty = false

  const add = (what: string, position?: Position) => {
    const place = position === undefined ? {} : { from: position, to: position }
    if (places.size < mostPlaces) places.set(what, { store: 'events', what, ...place })
  }

  const addFault = (error: StoreDamaged) => {
    isFaulty = true
    add(error.message)
  }

  return {
    all: (): readonly Damage[] => [...places.values()],

    /** Whether a page is damaged: the next opening has to check the file. */
    isFaulty: () => isFaulty,

    /** A damaged value: the record at a position, or a value of another database. */
    at(key: number | undefined, database = 'records'): StoreDamaged {
      const position = key as Position | undefined
      const where = position === undefined ? `in the database ${database}` : `at position ${key}`
      const what = `${file}: damaged ${where}`
      add(what, position)
      return new StoreDamaged(what, position === undefined ? {} : { position })
    },

    addFault,

    /** What an error of lmdb means; any other is as it is. */
    explained(error: unknown): unknown {
      const cause = explained(error, file)
      if (cause !== error && cause instanceof StoreDamaged) addFault(cause)
      return cause
    },
  }
}

export type DamageFound = ReturnType<typeof damageFound>
