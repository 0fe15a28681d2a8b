import { memoryEvents } from '../src/domain/memory/events.ts'
import type { Sealed } from '../src/domain/sealed.ts'
import { idIn, type Projection } from './projection.ts'

export type MemoryView = {
  memory_id: string
  organization_id: string
  user_id: string
  text: Sealed
  created_at: string
}

export const memories: Projection<MemoryView, typeof memoryEvents> = {
  name: 'memories',
  categories: ['memory'],
  events: memoryEvents,
  indexes: { by_user: { equals: ['organization_id', 'user_id'], orderBy: 'created_at' } },
  id: ({ data }) => data.memoryId,
  creates: {
    MemoryRemembered: ({ stream, metadata, data }) => ({
      memory_id: data.memoryId,
      organization_id: metadata.organization_id,
      user_id: idIn(stream),
      text: data.text,
      created_at: metadata.at,
    }),
  },
  changes: {},
  removes: ['MemoryForgotten'],
}
