import { useRef, useState } from 'react'

type Identified = { run_id: string }

type Held<T> = {
  rows: readonly T[] | undefined
  /** Runs of the latest answer that are not in the list yet. */
  added: number
  /** The latest answer lacks runs of the list. */
  hasLeft: boolean
  /** Shows the latest answer. */
  apply: () => void
}

/**
 * A list that changes without moving: rows take new values where they are, and others come only
 * when they are asked for. `key`: another list, which is shown at once.
 */
export const useHeldRows = <T extends Identified>(
  key: string,
  latest: readonly T[] | undefined,
): Held<T> => {
  const known = useRef(new Map<string, T>())
  const [held, setHeld] = useState<{ key: string; ids: readonly string[] }>()
  if (!latest) return { rows: undefined, added: 0, hasLeft: false, apply: () => {} }
  for (const row of latest) known.current.set(row.run_id, row)
  const ids = latest.map(({ run_id }) => run_id)
  const isOther = held?.key !== key || (held.ids.length === 0 && ids.length > 0)
  if (isOther) setHeld({ key, ids })
  const visibleIds = isOther ? ids : held.ids
  const present = new Set(ids)
  const inList = new Set(visibleIds)
  return {
    rows: visibleIds.flatMap((id) => known.current.get(id) ?? []),
    added: ids.filter((id) => !inList.has(id)).length,
    hasLeft: visibleIds.some((id) => !present.has(id)),
    apply: () => setHeld({ key, ids }),
  }
}
