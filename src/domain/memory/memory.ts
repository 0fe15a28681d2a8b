import { type Aggregate, streamOf } from '../aggregate.ts'
import type { Sealed } from '../sealed.ts'
import { type MemoryEvent, memoryEvents } from './events.ts'

/** How much is remembered of one user in one organization; the oldest makes room. */
export const memoryLimit = 500

type Remembered = { memoryId: string; text: Sealed }

/** What is remembered, oldest first. */
export type Memory = { memories: readonly Remembered[] }

export const memory: Aggregate<Memory, typeof memoryEvents> = {
  category: 'memory',
  events: memoryEvents,
  initial: { memories: [] },
  evolve: {
    MemoryRemembered: ({ memories }, remembered) => ({ memories: [...memories, remembered] }),
    MemoryForgotten: ({ memories }, { memoryId }) => ({
      memories: memories.filter((one) => one.memoryId !== memoryId),
    }),
  },
  weigh: ({ memories }) => memories.reduce((sum, { text }) => sum + text.box.length + 200, 0),
}

export const memoryStream = (organizationId: string, userId: string) =>
  streamOf(memory, organizationId, userId)

/** `isSame` tells whether what is sealed says the same as what is to be remembered. */
export const decideRemember =
  (remembered: Remembered, isSame: (text: Sealed) => boolean) =>
  ({ memories }: Memory): MemoryEvent[] => {
    if (memories.some(({ text }) => isSame(text))) return []
    const [oldest] = memories
    const forgotten: MemoryEvent[] =
      oldest && memories.length >= memoryLimit
        ? [{ type: 'MemoryForgotten', data: { memoryId: oldest.memoryId } }]
        : []
    return [...forgotten, { type: 'MemoryRemembered', data: remembered }]
  }
