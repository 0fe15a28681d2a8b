import t from 'tap'
import { listEvents } from '../../queries/list-events.ts'
import type { RecordedEvent } from '../../src/ports/event-store.ts'
import { SealBroken } from '../../src/vault.ts'
import { metadata, recorded } from '../support/recorded.ts'

/** Read in batches of three. */
const historyOf = (events: readonly RecordedEvent[]) =>
  async function* (after: number) {
    const rest = events.filter(({ position }) => position > after)
    for (let from = 0; from < rest.length; from += 3) yield rest.slice(from, from + 3)
  }

const texts = new Map([['one', 'Hello']])
const open = ({ $sealed, box }: { $sealed: string; box: string }) => {
  if (box === 'forged') throw new SealBroken($sealed)
  return texts.get(box)
}

const listing = (events: readonly RecordedEvent[]) =>
  listEvents({ history: historyOf(events), open })

const asked = { organizationId: 'org-1', after: -1, limit: 100 }
const other = { ...metadata, organization_id: 'org-2' }

t.test('pages go through one organization, whatever lies between', async (t) => {
  const events = recorded(
    Array.from({ length: 20 }, (_, n) => ({
      stream: `box-${n % 3}`,
      type: n % 2 ? 'Odd' : 'Even',
      data: { n },
      metadata: n % 4 === 3 ? other : metadata,
    })),
  )
  const list = listing(events)
  const own = events.filter(({ metadata }) => metadata.organization_id === 'org-1')
  t.strictSame((await list(asked)).events, own)

  const seen: unknown[] = []
  let after = -1
  for (let pages = 0; pages < 10; pages++) {
    const page = await list({ ...asked, after, limit: 4 })
    t.ok(page.events.length <= 4)
    seen.push(...page.events)
    after = page.next_after
    if (!page.has_more) break
  }
  t.strictSame(seen, own)
  t.equal(after, 19, 'the last place is where to go on')
  t.strictSame(await list({ ...asked, after }), { events: [], next_after: 19, has_more: false })

  const of = async (more: object) => (await list({ ...asked, ...more })).events
  t.strictSame(
    await of({ stream: 'box-1' }),
    own.filter(({ stream }) => stream === 'box-1'),
  )
  t.strictSame(
    await of({ type: 'Odd', stream: 'box-1' }),
    own.filter(({ stream, type }) => stream === 'box-1' && type === 'Odd'),
  )
  t.strictSame(await of({ organizationId: 'org-3' }), [])
})

t.test('a request looks at no more than 10,000 events', async (t) => {
  const events = recorded(
    Array.from({ length: 10_005 }, (_, n) => ({
      stream: 'box-1',
      type: 'Odd',
      data: {},
      metadata: n > 10_000 ? metadata : other,
    })),
  )
  const list = listing(events)
  const first = await list(asked)
  t.strictSame(first, { events: [], next_after: 9_999, has_more: true })
  const second = await list({ ...asked, after: first.next_after })
  t.match(second, { events: { length: 4 }, next_after: 10_004, has_more: false })
})

t.test('sealed texts are opened wherever they are; erased ones say so', async (t) => {
  const sealed = (box: string) => ({ $sealed: 'session:org-1/s-1', box })
  const data = {
    text: sealed('one'),
    list: [{ text: sealed('gone') }, null, 7],
    forged: sealed('forged'),
    alike: { ...sealed('one'), more: 1 },
  }
  const list = listing(recorded([{ stream: 'box-1', type: 'Odd', data }]))
  const [event] = (await list(asked)).events
  t.strictSame(event?.data, {
    text: 'Hello',
    list: [{ text: { erased: true } }, null, 7],
    forged: sealed('forged'),
    alike: { ...sealed('one'), more: 1 },
  })
})
