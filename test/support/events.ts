import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { z } from 'zod'
import type { EventOf, EventTable } from '../../src/domain/aggregate.ts'

const path = join('test', 'fixtures', 'events')

/** An event as it was once stored. */
export type Sample = { category: string; type: string; schema_version: number; data: unknown }

/** The frozen sample of an event type (test/fixtures/events). */
export const sample = (type: string): Sample =>
  JSON.parse(readFileSync(join(path, `${type}.json`), 'utf8'))

/** The event types that have a frozen sample. */
export const sampleTypes = (): string[] =>
  readdirSync(path)
    .filter((file) => file.endsWith('.json'))
    .map((file) => file.slice(0, -'.json'.length))

/** An event with the data of its frozen sample, some of it changed. */
export const sampleOf = <Table extends EventTable, Type extends keyof Table & string>(
  events: Table,
  type: Type,
  change: Partial<z.infer<Table[Type]>> = {},
) => {
  const data = events[type]?.parse({ ...Object(sample(type).data), ...change })
  return { type, data } as EventOf<Table, Type>
}
