import { z } from 'zod'
import type { Recorded } from '../src/domain/event.ts'
import { memoryEvents } from '../src/domain/memory/events.ts'
import { sealed } from '../src/domain/sealed.ts'
import { id, incomplete, listPosition, opened, text, timestamp } from './fields.ts'
import { idIn, projection, without } from './projection.ts'

const memoryView = z.object({
  memory_id: text,
  organization_id: id,
  user_id: id,
  text: sealed,
  created_at: timestamp,
  position: listPosition,
  incomplete,
})
export type MemoryView = z.infer<typeof memoryView>

const ofStream = ({ stream, metadata }: Recorded) => ({
  index: 'by_user',
  equals: [metadata.organization_id, idIn(stream)],
})

/** Neither in feeds nor in past states. */
const inner = { position: true } as const

export const memories = projection<MemoryView, typeof memoryEvents>()({
  name: 'memories',
  schema: memoryView,
  version: 2,
  shown: {
    schema: memoryView.omit(inner).extend({ text: opened }),
    document: (view) => without(view, inner),
  },
  categories: ['memory'],
  events: memoryEvents,
  indexes: { by_user: { equals: ['organization_id', 'user_id'], orderBy: 'position' } },
  id: ({ data }) => ('memoryId' in data ? data.memoryId : []),
  ofStream,
  creates: {
    MemoryRemembered: ({ stream, metadata, data, position }) => ({
      memory_id: data.memoryId,
      organization_id: metadata.organization_id,
      user_id: idIn(stream),
      text: data.text,
      created_at: metadata.at,
      position,
    }),
  },
  changes: {},
  removes: ['MemoryForgotten'],
  clears: { MemoriesErased: ofStream },
  ignores: {},
})
