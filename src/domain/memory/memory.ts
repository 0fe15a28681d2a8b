import { type Aggregate, streamOf } from '../aggregate.ts'
import {
  afterErasure,
  type Destroyed,
  inUse,
  isDestroyed,
  type KeyUse,
  ofKey,
  unused,
} from '../erasure.ts'
import type { Sealed } from '../sealed.ts'
import { type MemoryEvent, memoryEvents } from './events.ts'

/** How much is remembered of one user in one organization; the oldest makes room. */
export const memoryLimit = 500

type Remembered = { memoryId: string; text: Sealed }

/** When a turn began, in ISO 8601, and the generation of the key that seals its memory. */
type Of = { turnBeganAt: string; generation: number }

/** What is remembered, oldest first. `erasedAt`: when all before was erased, in ISO 8601. */
export type Memory = { memories: readonly Remembered[]; key: KeyUse; erasedAt: string | null }

export const memory: Aggregate<Memory, typeof memoryEvents> = {
  category: 'memory',
  events: memoryEvents,
  initial: { memories: [], key: unused, erasedAt: null },
  stateVersion: 2,
  evolve: {
    MemoryRemembered: ({ memories, key, erasedAt }, remembered) => ({
      memories: [...memories, remembered],
      key: inUse(key),
      erasedAt,
    }),
    MemoryForgotten: ({ memories, ...state }, { memoryId }) => ({
      ...state,
      memories: memories.filter((memory) => memory.memoryId !== memoryId),
    }),
    MemoriesErased: ({ key }, { destroyedAt }) => ({
      memories: [],
      key: afterErasure(key),
      erasedAt: destroyedAt,
    }),
  },
  weigh: ({ memories }) => memories.reduce((sum, { text }) => sum + text.box.length + 200, 0),
}

export const memoryStream = (organizationId: string, userId: string) =>
  streamOf(memory, organizationId, userId)

/** Whether the memories were erased after the turn began, or since the text was sealed. */
export const isErasedSince = (
  { erasedAt, key }: Memory,
  { turnBeganAt, generation }: Of,
): boolean => key.generation !== generation || (erasedAt !== null && turnBeganAt <= erasedAt)

/**
 * `isSame` tells whether what is sealed says the same as what is to be remembered. Turns that began
 * before an erasure remember nothing: they may repeat what was erased.
 */
export const decideRemember =
  (remembered: Remembered, isSame: (text: Sealed) => boolean, of: Of) =>
  (state: Memory): MemoryEvent<'MemoryRemembered' | 'MemoryForgotten'>[] => {
    if (isErasedSince(state, of)) return []
    const { memories } = state
    if (memories.some(({ text }) => isSame(text))) return []
    const [oldest] = memories
    const forgotten: MemoryEvent<'MemoryForgotten'>[] =
      oldest && memories.length >= memoryLimit
        ? [{ type: 'MemoryForgotten', data: { memoryId: oldest.memoryId } }]
        : []
    return [...forgotten, { type: 'MemoryRemembered', data: remembered }]
  }

/** Erases all memories, forgotten ones too. */
export const decideEraseMemories =
  (destroyed: Destroyed) =>
  ({ memories, key }: Memory): MemoryEvent<'MemoriesErased'>[] => {
    if (!isDestroyed(key, destroyed)) return []
    const memoryIds = memories.map(({ memoryId }) => memoryId)
    const data = { ...ofKey('memories', destroyed, { memories: memories.length }), memoryIds }
    return [{ type: 'MemoriesErased', data }]
  }
