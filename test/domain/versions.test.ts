import t from 'tap'
import type { EventTable } from '../../src/domain/aggregate.ts'
import { eventsByCategory } from '../../src/domain/categories.ts'
import { isRepaired, readingVersion, upcast, versions } from '../../src/domain/versions.ts'
import { decoder } from '../../src/event-sourcing/codec.ts'
import { sample } from '../support/events.ts'
import { metadata, recorded } from '../support/recorded.ts'

const most = Number.MAX_SAFE_INTEGER
const categories: Readonly<Record<string, EventTable>> = eventsByCategory
const repaired = Object.keys(versions).filter((type) => versions[type]?.repairs)

const readAs = (type: string, change: object) => {
  const { category, data } = sample(type)
  const [event] = recorded([
    {
      stream: `${category}-org-1_1`,
      type,
      data: { ...Object(data), ...change },
      metadata: { ...metadata, schema_version: 1 },
    },
  ])
  const table = categories[category]
  if (!table || !event) throw new Error(`no event ${type}`)
  return decoder(table)(event).data
}

t.test('valid data of version 1 is read as it is', async (t) => {
  for (const type of repaired) {
    const { data } = sample(type)
    t.equal(upcast(type, 1, data), data, type)
    t.notOk(isRepaired(type, 1, data))
    t.strictSame(readAs(type, {}), data)
  }
})

t.test('a negative duration is read as 0', async (t) => {
  for (const type of ['AgentCompleted', 'RunCompleted', 'ToolCompleted']) {
    t.match(readAs(type, { durationMs: -100.5 }), { durationMs: 0 }, type)
    t.ok(isRepaired(type, 1, { durationMs: -1 }))
    t.notOk(isRepaired(type, 2, { durationMs: -1 }), 'only what version 1 stored')
  }
})

t.test('an amount beyond exact numbers is read as the largest exact one', async (t) => {
  for (const [type, field] of [
    ['CreditsReserved', 'amount'],
    ['CreditsSettled', 'amount'],
    ['RunCompleted', 'charge'],
    ['RunFailed', 'charge'],
    ['AgentCompleted', 'promptTokens'],
  ] as const)
    t.match(readAs(type, { [field]: 1e21 }), { [field]: most }, type)
  t.match(readAs('CreditsGranted', { amount: -1e21 }), { amount: -most })
})

t.test('a value that is not a number is not repaired', async (t) => {
  for (const value of [null, '7', undefined])
    t.throws(() => readAs('CreditsReserved', { amount: value }), { name: 'UnreadableEvent' })
  t.throws(() => readAs('RunCompleted', { durationMs: null }), { name: 'UnreadableEvent' })
})

t.test('the fingerprint of the upcasters changes with any version', async (t) => {
  const more = { ...versions, Melted: { current: 2, from: { 1: (data: unknown) => data } } }
  t.not(readingVersion(more), readingVersion())
  t.equal(readingVersion(Object.fromEntries(Object.entries(versions).reverse())), readingVersion())
})
