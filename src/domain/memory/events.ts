import { z } from 'zod'
import type { EventOf } from '../aggregate.ts'
import { erasure } from '../erasure.ts'
import { sealed } from '../sealed.ts'

const id = z.string()

// Stored for good: add an optional field or a new event; never rename, never narrow.
export const memoryEvents = {
  MemoryRemembered: z.object({ memoryId: id, text: sealed }),
  /** It made room for a newer one. */
  MemoryForgotten: z.object({ memoryId: id }),
  /** All memories of the user in the organization; `memoryIds` lists those that were erased. */
  MemoriesErased: erasure.extend({ memoryIds: z.array(id).optional() }),
}

export type MemoryEvent<Type extends keyof typeof memoryEvents = keyof typeof memoryEvents> =
  EventOf<typeof memoryEvents, Type>
