import fc from 'fast-check'
import t from 'tap'
import { listEvents } from '../../queries/list-events.ts'
import type { Position } from '../../src/domain/event.ts'
import { type RecordedEvent, START } from '../../src/ports/event-store.ts'
import { SealBroken } from '../../src/security/vault.ts'
import { timeOfId } from '../../src/support/ids.ts'
import { descendingOn, heldLog, historyOn } from '../support/held-log.ts'
import { at } from '../support/positions.ts'
import { metadata, recorded } from '../support/recorded.ts'

const texts = new Map([['one', 'Hello']])
const open = async ({ $sealed, box }: { $sealed: string; box: string }) => {
  if (box === 'forged') throw new SealBroken($sealed)
  return texts.get(box)
}

const listing = async (events: readonly RecordedEvent[], upTo?: number) => {
  const store = heldLog(events)
  const readHistory = await historyOn(store, upTo)
  const readHistoryDescending = await descendingOn(store, upTo)
  store.log.read = 0
  const uses = { readHistory, readHistoryDescending, read: store.read, open }
  return { ...listEvents(uses), log: store.log }
}

const base = { organizationId: 'org-1', after: START }

type EventPlan = { organization: number; gap: number; minutes: number; owner: boolean }

/** Events of three organizations, at positions with gaps, their times not quite in order. */
const recordedHistory = (plans: readonly EventPlan[]) => {
  let position = -1
  return recorded(
    plans.map(({ organization, gap, minutes, owner }, n) => {
      position += gap
      const organization_id = `org-${organization}`
      const at = new Date(Date.UTC(2026, 0, 1) + n * 30_000 + minutes * 60_000).toISOString()
      const actor = { key_id: `key-${n % 2}`, user_id: 'user-1' }
      return {
        stream: `organization-${organization_id}_${n % 3}`,
        position,
        metadata: { ...metadata, organization_id, at, actor },
        ...(owner
          ? { type: 'OwnerAdded', data: { userId: `${n}` } }
          : { type: 'OrganizationRenamed', data: { name: `${n}` } }),
      }
    }),
  )
}

const arbitrary = fc.record({
  made: fc.array(
    fc.record({
      organization: fc.integer({ min: 1, max: 3 }),
      gap: fc.oneof(fc.constant(1), fc.integer({ min: 1, max: 40_000 })),
      minutes: fc.integer({ min: -2, max: 2 }),
      owner: fc.boolean(),
    }),
    { minLength: 1, maxLength: 60 },
  ),
  indexed: fc.double({ min: 0, max: 1, noNaN: true }),
  order: fc.constantFrom(undefined, 'asc' as const, 'desc' as const),
  limit: fc.integer({ min: 1, max: 7 }),
  type: fc.option(fc.constantFrom('OwnerAdded', 'OrganizationRenamed'), { nil: undefined }),
  stream: fc.option(fc.constantFrom('organization-org-1_0', 'organization-org-2_1'), {
    nil: undefined,
  }),
  actor: fc.option(fc.constantFrom('key-0', 'user-1', 'nobody'), { nil: undefined }),
  from: fc.option(fc.integer({ min: -2, max: 30 }), { nil: undefined }),
  to: fc.option(fc.integer({ min: -2, max: 30 }), { nil: undefined }),
})

const minuteOf = (n: number | undefined) =>
  n === undefined ? undefined : Date.UTC(2026, 0, 1) + n * 60_000

t.test('pages and lines hold what was asked for, however much of it is indexed', async (t) => {
  await fc.assert(
    fc.asyncProperty(
      arbitrary,
      async ({ made: plans, indexed, order, limit, type, stream, actor, ...time }) => {
        const events = recordedHistory(plans)
        const from = minuteOf(time.from)
        const to = minuteOf(time.to)
        const last = events.at(-1)?.position ?? START
        const list = await listing(events, Math.floor(last * indexed))
        const expected = events.filter(
          (event) =>
            event.metadata.organization_id === 'org-1' &&
            (type === undefined || event.type === type) &&
            (stream === undefined || event.stream === stream) &&
            (actor === undefined ||
              event.metadata.actor.key_id === actor ||
              event.metadata.actor.user_id === actor) &&
            Date.parse(event.metadata.at) >= (from ?? -Infinity) &&
            Date.parse(event.metadata.at) < (to ?? Infinity),
        )
        if (order === 'desc') expected.reverse()
        const query = { organizationId: 'org-1', order, type, stream, actor, from, to }
        const lines: unknown[] = []
        for await (const batch of list.all(query)) lines.push(...batch)
        t.strictSame(lines, expected)

        const seen: unknown[] = []
        let after: Position | undefined
        for (let pages = 0; pages <= plans.length; pages++) {
          const page = await list.page({ ...query, after, limit })
          if (page.events.length > limit) return false
          const step = after === undefined ? 0 : page.next_after - after
          if (order === 'desc' ? step > 0 : step < 0) return false
          seen.push(...page.events)
          after = page.next_after
          if (!page.has_more) break
        }
        t.strictSame(seen, expected)
        return true
      },
    ),
    { numRuns: 150 },
  )
})

const busy = (n: number, own: (n: number) => boolean) =>
  recordedHistory(
    Array.from({ length: n }, (_, at) => ({
      organization: own(at) ? 1 : 2,
      gap: 1,
      minutes: 0,
      owner: false,
    })),
  )

t.test('events of other organizations are not read', async (t) => {
  const list = await listing(busy(60_000, (n) => n === 5 || n === 40_000))
  t.match(await list.page({ ...base, limit: 100 }), { events: { length: 2 }, has_more: false })
  t.equal(list.log.read, 2)
})

t.test('a page looks at no more than about 10,000 events', async (t) => {
  const list = await listing(busy(12_500, () => true))
  const none = { ...base, type: 'OwnerAdded', limit: 100 }
  const first = await list.page(none)
  t.strictSame(first, { events: [], next_after: 10_239, has_more: true })
  const second = await list.page({ ...none, after: first.next_after })
  t.strictSame(second, { events: [], next_after: 12_499, has_more: false })
})

t.test('the newest first: a page reads from the end, and continues before it', async (t) => {
  const list = await listing(busy(12_500, () => true))
  const query = { organizationId: 'org-1', order: 'desc' as const }
  const first = await list.page({ ...query, limit: 2 })
  t.match(first, { events: [{ position: 12_499 }, { position: 12_498 }], has_more: true })
  t.equal(first.next_after, 12_498)
  t.ok(list.log.read <= 64, `${list.log.read} events were read`)
  const second = await list.page({ ...query, after: first.next_after, limit: 1 })
  t.match(second, { events: [{ position: 12_497 }], next_after: 12_497, has_more: true })
  const last = await list.page({ ...query, after: at(2), limit: 10 })
  t.match(last, { events: [{ position: 1 }, { position: 0 }], next_after: -1, has_more: false })
  t.match(await list.page({ ...query, after: START, limit: 10 }), {
    events: { length: 0 },
    has_more: false,
  })
})

t.test('the newest first: filters that match nothing end after about 10,000 events', async (t) => {
  const list = await listing(busy(12_500, () => true))
  for (const filter of [
    { type: 'OwnerAdded' },
    { stream: 'organization-org-1_none' },
    { requestId: 'none' },
    { runId: 'none' },
  ]) {
    const query = { organizationId: 'org-1', order: 'desc' as const, ...filter, limit: 100 }
    list.log.read = 0
    const first = await list.page(query)
    t.match(first, { events: { length: 0 }, has_more: true }, JSON.stringify(filter))
    t.ok(list.log.read >= 10_000 && list.log.read < 10_100, `${list.log.read} were read`)
    const second = await list.page({ ...query, after: first.next_after })
    t.strictSame(second, { events: [], next_after: -1, has_more: false })
    t.equal(list.log.read, 12_500, 'each event once')
  }
})

t.test('events of a run are searched for from the time in its id on', async (t) => {
  const runId = '019b5ddc-4400-7000-8000-000000000001'
  const began = timeOfId(runId) ?? 0
  const dayMs = 86_400_000
  const events = recorded(
    Array.from({ length: 256 * 60 }, (_, n) => ({
      stream: 'session-org-1_s-1',
      type: 'RunStarted',
      data: { runId: n === 256 * 50 + 3 ? runId : `other-${n}` },
      metadata: {
        ...metadata,
        organization_id: 'org-1',
        at: new Date(began + (Math.floor(n / 256) - 50) * dayMs).toISOString(),
      },
    })),
  )
  const list = await listing(events)
  for (const order of ['asc', 'desc'] as const) {
    list.log.read = 0
    const page = await list.page({ organizationId: 'org-1', order, runId, limit: 100 })
    t.match(page, { events: [{ data: { runId } }], has_more: false }, order)
    t.equal(list.log.read, 256 * 10, 'nothing from before the run')
  }
})

t.test('events are found by what they name', async (t) => {
  const own = { ...metadata, organization_id: 'org-1' }
  const events = recorded(
    [
      { stream: 'session-org-1_s-1', type: 'RunStarted', data: { agentId: 'a-1' } },
      {
        stream: 'session-org-1_s-1',
        type: 'RunCompleted',
        data: { agentId: 'a-2', model: 'm/1', runId: 'r-9' },
      },
      { stream: 'session-org-1_s-11', type: 'RunCompleted', data: { model: 'm/2' } },
      { stream: 'content-org-1_c-1', type: 'ContentErased', data: { sessionId: 's-1' } },
      { stream: 'squad-org-1_org-1', type: 'AgentCreated', data: { agentId: 'a-1', model: null } },
      { stream: 'box-org-1_b-1', type: 'Odd', data: null },
      { stream: 'session-org-2_s-1', type: 'RunStarted', data: { agentId: 'a-1' }, org: 'org-2' },
    ].map(({ org = 'org-1', ...event }, n) => ({
      ...event,
      metadata: { ...own, organization_id: org, request_id: `r-${n % 2}` },
    })),
  )
  for (const [filters, expected] of [
    [{ sessionId: 's-1' }, [0, 1, 3]],
    [{ sessionId: 's-1', stream: 'session-org-1_s-1' }, [0, 1]],
    [{ sessionId: 's-1', stream: 'session-org-1_s-11' }, []],
    [{ agentId: 'a-1' }, [0, 4]],
    [{ agentId: 'a-1', sessionId: 's-1' }, [0]],
    [{ model: 'm/1' }, [1]],
    [{ model: 'null' }, []],
    [{ requestId: 'r-0' }, [0, 2, 4]],
    [{ requestId: 'r-1', type: 'RunCompleted' }, [1]],
    [{ sessionId: 's-1_s-1' }, []],
    [{ agentId: 'constructor' }, []],
    [{ runId: 'r-9' }, [1]],
    [{ runId: 'r-9', sessionId: 's-11' }, []],
  ] as const) {
    const list = await listing(events)
    const query = { ...base, ...filters }
    const matches = (await list.page({ ...query, limit: 100 })).events
    t.strictSame(
      matches.map(({ position }) => position),
      expected,
      JSON.stringify(filters),
    )
    const lines: unknown[] = []
    for await (const batch of list.all(query)) lines.push(...batch)
    t.strictSame(lines, matches)
  }
})

t.test(
  'a page that finds nothing ends after about 10,000 events, whatever it looks for',
  async (t) => {
    const list = await listing(busy(12_500, () => true))
    for (const filter of [
      { requestId: 'none' },
      { sessionId: 'none' },
      { model: 'none' },
      { agentId: 'none' },
    ])
      t.match(await list.page({ ...base, ...filter, limit: 100 }), {
        events: { length: 0 },
        next_after: 10_239,
        has_more: true,
      })
  },
)

t.test('lines are read as they are taken, not before', async (t) => {
  const events = Array.from({ length: 20_000 }, (_, n) => ({
    stream: `organization-org-1_${n}`,
    type: 'OwnerAdded',
    data: { userId: `${n}` },
    metadata: { ...metadata, organization_id: 'org-1' },
  }))
  const { all, log } = await listing(recorded(events))
  const lines = all(base)
  let count = 0
  let ahead = 0
  for await (const batch of lines) {
    count += batch.length
    ahead = Math.max(ahead, log.read - count)
  }
  t.equal(count, 20_000)
  t.ok(ahead <= 2_000, `${ahead} were read ahead`)
})

t.test('sealed texts are opened; erased ones say so, forged ones stay', async (t) => {
  const key = 'session:org-1/s-1'
  const stream = 'session-org-1_s-1'
  const boxes = ['one', 'gone', 'forged']
  const events = boxes.map((box) => ({
    stream,
    type: 'UserMessageSent',
    data: { messageId: box, content: { $sealed: key, box } },
  }))
  const list = await listing(recorded(events), -1)
  const { events: page } = await list.page({ ...base, limit: 10 })
  t.strictSame(
    page.map(({ data }) => data),
    [
      { messageId: 'one', content: 'Hello' },
      { messageId: 'gone', content: { erased: true } },
      { messageId: 'forged', content: { $sealed: key, box: 'forged' } },
    ],
  )
})

t.test("another organization's stream is not even read", async (t) => {
  const [ours, theirs] = [
    '0190f9a0-0000-7000-8000-000000000001',
    '0190f9a0-0000-7000-8000-000000000002',
  ]
  const streams = [`organization-${ours}_1`, `organization-${theirs}_1`, 'account-user_1']
  const data = { userId: 'user-1' }
  const events = streams.map((stream) => ({
    stream,
    type: 'OwnerAdded',
    data,
    metadata: { ...metadata, organization_id: ours },
  }))
  const list = await listing(recorded(events))
  const eventsIn = async (stream: string) => {
    list.log.read = 0
    const { events } = await list.page({ organizationId: ours, after: START, limit: 10, stream })
    return { events: events.length, read: list.log.read }
  }
  t.same(await eventsIn(`organization-${ours}_1`), { events: 1, read: 1 })
  t.same(
    await eventsIn('account-user_1'),
    { events: 1, read: 1 },
    "a platform's stream may be asked",
  )
  t.same(await eventsIn(`organization-${theirs}_1`), { events: 0, read: 0 })
})
