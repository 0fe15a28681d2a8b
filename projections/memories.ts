import { z } from 'zod'
import { memoryEvents } from '../src/domain/memory/events.ts'
import { sealed } from '../src/domain/sealed.ts'
import { id, opened, text, timestamp } from './fields.ts'
import { idIn, type Projection } from './projection.ts'

const memoryView = z.object({
  memory_id: text,
  organization_id: id,
  user_id: id,
  text: sealed,
  created_at: timestamp,
})
export type MemoryView = z.infer<typeof memoryView>

export const memories: Projection<MemoryView, typeof memoryEvents> = {
  name: 'memories',
  schema: memoryView,
  shown: { schema: memoryView.extend({ text: opened }) },
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
