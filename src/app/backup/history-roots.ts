import { ownerOf } from '../../domain/event.ts'
import type { RecordedEvent } from '../../ports/event-store.ts'
import { originOf } from '../../transparency/checkpoint.ts'
import { growing } from '../../transparency/growing.ts'
import { leafOf } from '../../transparency/leaf.ts'
import { leafHash } from '../../transparency/merkle.ts'

/** A history, by the origin of its checkpoints: its number of events, and the root over them. */
export type HistoryRoot = { origin: string; size: number; root: string }

/** The roots of all histories of a log, from its events in their order. */
export const historyRoots = () => {
  const histories = new Map<string, { size: number; tree: ReturnType<typeof growing> }>()
  return {
    add(event: RecordedEvent): void {
      const origin = originOf(ownerOf(event))
      const history = histories.get(origin) ?? { size: 0, tree: growing() }
      history.size++
      history.tree.add(leafHash(leafOf(event)))
      histories.set(origin, history)
    },
    all: (): HistoryRoot[] =>
      [...histories].map(([origin, { size, tree }]) => ({
        origin,
        size,
        root: tree.root().toString('base64'),
      })),
  }
}
