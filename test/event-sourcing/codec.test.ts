import t from 'tap'
import { z } from 'zod'
import { decoder, readableOr } from '../../src/event-sourcing/codec.ts'
import { UnreadableEvent } from '../../src/ports/event-store.ts'
import { recorded } from '../support/recorded.ts'

const events = { Weighed: z.object({ grams: z.number(), note: z.string().optional() }) }

/** Version 1 knew kilograms, version 2 text. */
const versions = {
  Weighed: {
    current: 3,
    from: {
      1: (data: unknown) => ({ grams: `${z.object({ kilos: z.number() }).parse(data).kilos}000` }),
      2: (data: unknown) => ({ grams: Number(z.object({ grams: z.string() }).parse(data).grams) }),
    },
  },
}

const stored = (type: string, data: unknown, version?: number) => {
  const [event] = recorded([{ stream: 'scale-org-1_s-1', type, data }])
  if (!event) throw new Error('nothing recorded')
  if (version === undefined) return event
  return { ...event, metadata: { ...event.metadata, schema_version: version } }
}

t.test('an event is what was stored, its data parsed', async (t) => {
  const event = stored('Weighed', { grams: 5 })
  t.strictSame(decoder(events)(event), event)
})

t.test('parses events read from the disk, and not those decided here', async (t) => {
  const own = { ...stored('Weighed', { grams: 'five' }), decided: true as const }
  t.equal(decoder(events)(own), own)
  const { decided: _, ...read } = own
  t.throws(() => decoder(events)(read), { name: 'UnreadableEvent' })
  t.throws(() => decoder(events)({ ...own, type: 'Melted' }), { name: 'UnknownEvent' })
})

t.test('older data is lifted version by version', async (t) => {
  const decode = decoder(events, versions)
  t.strictSame(decode(stored('Weighed', { kilos: 2 }, 1)).data, { grams: 2000 })
  t.strictSame(decode(stored('Weighed', { grams: '7' }, 2)).data, { grams: 7 })
  t.strictSame(decode(stored('Weighed', { grams: 7 }, 3)).data, { grams: 7 })
})

t.test('an unreadable event is named by its place and never by its content', async (t) => {
  const decode = decoder(events, versions)
  const place = { message: /scale-org-1_s-1 at revision 0, position 0/ }
  t.throws(() => decode(stored('Melted', {})), { name: 'UnknownEvent', ...place })
  t.throws(() => decode(stored('constructor', {})), { name: 'UnknownEvent' })
  const later = stored('Weighed', { grams: 1, secret: 1 }, 4)
  t.throws(() => decode(later), { name: 'UnknownEvent', message: /version 4, known up to 3/ })
  for (const [data, version] of [
    [{ grams: 'secret' }, 3],
    [{ grams: 1, note: { secret: 1 } }, 3],
    [{ kilos: 'secret' }, 1],
    [{ grams: 1 }, 0],
    [{ grams: 1 }, 1.5],
  ] as const) {
    const event = stored('Weighed', data, version)
    t.throws(() => decode(event), { name: 'UnreadableEvent', ...place })
    try {
      decode(event)
    } catch (error) {
      t.notMatch(`${error}`, /secret/)
    }
  }
  t.throws(() => decode(stored('Weighed', { grams: 'x' }, 3)), { message: /data\.grams/ })
})

t.test('an error that is no unreadable event is thrown', async (t) => {
  const throwing = (error: Error) => () => {
    throw error
  }
  const [event] = recorded([{ stream: 'box-org-1_1', type: 'BoxOpened', data: {} }])
  if (!event) throw new Error('no event')
  const unreadable = new UnreadableEvent(event, 'data')
  t.equal(
    readableOr(
      () => 1,
      () => 2,
    ),
    1,
  )
  t.equal(
    readableOr(throwing(unreadable), (cause) => cause),
    unreadable,
  )
  t.throws(() => readableOr(throwing(new Error('the disk')), () => 2), { message: 'the disk' })
})
