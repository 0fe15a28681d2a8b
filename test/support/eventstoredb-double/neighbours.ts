import { randomUUID } from 'node:crypto'
import type { Proposed } from './log.ts'

type Aside = { stream: string; events: Proposed[] }

const binary = 'application/octet-stream'
const json = 'application/json'

const event = (type: string, contentType: string, data: string | Uint8Array, metadata = '') => ({
  id: randomUUID(),
  type,
  contentType,
  data: Buffer.from(data),
  metadata: Buffer.from(metadata),
})

const system = (type: string) => event(type, json, '{}')

/** What other applications keep on the same server, in the forms that theirs take. */
const strangers = (stream: string, events: readonly Proposed[]): Aside[] => [
  { stream: 'orders-17', events: [event('OrderPlaced', binary, Uint8Array.of(0, 255, 254, 1))] },
  { stream: 'orders-18', events: [event('OrderPlaced', json, '{"total":12}')] },
  { stream: 'carts-3', events: [event('CartClosed', json, '{}', '{"tenant":"someone"}')] },
  // Our type names, in a stream of somebody else's and in one that is named like ours.
  ...[`copy-of-${stream}`, stream.slice(stream.indexOf('.') + 1)]
    .filter((name) => name !== stream)
    .map((name) => ({ stream: name, events: events.map((own) => ({ ...own, id: randomUUID() })) })),
]

/**
 * What else is written after the n-th append: now and then an event of the server's own, and with
 * `neighbours` those of other applications.
 */
export const aside = (
  n: number,
  stream: string,
  events: readonly Proposed[],
  neighbours: boolean,
): Aside[] => {
  if (n === 0) return [{ stream: '$users', events: [system('$User')] }]
  const asides: Aside[] = []
  if (n % 3 === 0) asides.push({ stream: `$$${stream}`, events: [system('$metadata')] })
  if (neighbours && n % 5 === 0) asides.push(...strangers(stream, events))
  if (n % 50 === 0)
    asides.push({
      stream: '$stats-127.0.0.1:2113',
      events: Array.from({ length: 40 }, () => system('$statsCollected')),
    })
  return asides
}
