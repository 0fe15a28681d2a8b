import t from 'tap'
import type { EventTable } from '../../src/domain/aggregate.ts'
import { eventsByCategory } from '../../src/domain/categories.ts'
import { schemaVersionOf } from '../../src/domain/versions.ts'
import { decoder } from '../../src/event-sourcing/codec.ts'
import { sample, sampleTypes } from '../support/events.ts'
import { metadata, recorded } from '../support/recorded.ts'

const categories: Readonly<Record<string, EventTable>> = eventsByCategory
const types = Object.values(categories).flatMap((table) => Object.keys(table))

t.test('no event type is in two categories', async (t) => {
  t.equal(new Set(types).size, types.length)
})

t.test('every event type has a frozen sample, and every sample an event type', async (t) => {
  t.strictSame(sampleTypes().toSorted(), types.toSorted())
})

t.test('what was ever stored can be read for ever', async (t) => {
  for (const type of sampleTypes()) {
    const { category, schema_version, data } = sample(type)
    const table = categories[category]
    t.ok(table?.[type], `${type} is an event of ${category}`)
    const [event] = recorded([
      { stream: `${category}-org-1_1`, type, data, metadata: { ...metadata, schema_version } },
    ])
    if (!table || !event) continue
    const read = decoder(table)(event)
    if (schema_version === schemaVersionOf(type)) t.strictSame(read.data, data, type)
  }
})

t.test('a default that version 1 stored with an agent is none', async (t) => {
  for (const type of ['AgentCreated', 'AgentChanged'])
    for (const [version, model, read] of [
      [1, 'offline/extractive', null],
      [1, 'openai/gpt-5', 'openai/gpt-5'],
      [2, 'offline/extractive', 'offline/extractive'],
    ] as const) {
      const { category, data } = sample(type)
      const [event] = recorded([
        {
          stream: `${category}-org-1_1`,
          type,
          data: { ...Object(data), model },
          metadata: { ...metadata, schema_version: version },
        },
      ])
      const table = categories[category]
      if (table && event) t.match(decoder(table)(event), { data: { model: read } })
    }
})
