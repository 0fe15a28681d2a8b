import { join } from 'node:path'
import { embeddedViews } from '../src/adapters/embedded/views.ts'
import { openViewsEnv } from '../src/adapters/embedded/views-env.ts'
import { position } from '../src/domain/event.ts'
import type { Commit, DocumentChange, ViewSpec } from '../src/ports/views.ts'
import type { Section } from './bench.ts'

const names = ['sessions', 'messages', 'runs', 'usage'] as const

const specOf = (name: string): ViewSpec => ({
  name,
  indexes: {
    by_user: { equals: ['organization_id', 'user_id'], orderBy: 'last_update_time' },
    by_session: { equals: ['organization_id', 'session_id'], orderBy: 'created_at' },
  },
})

const organization = '0197a1b2-0000-7000-8000-000000000000'
const idOf = (n: number) => `0197a1b2-0000-7000-8000-${String(n).padStart(12, '0')}`
const timeOf = (n: number) => new Date(1_760_000_000_000 + n).toISOString()

const change = (id: number, at: number): DocumentChange => ({
  id: `${organization}/${idOf(id)}`,
  document: {
    session_id: idOf(id % 1000),
    organization_id: organization,
    user_id: idOf(id % 50),
    key_id: null,
    hidden: false,
    created_at: timeOf(id),
    last_update_time: timeOf(at),
    message_count: at,
    content: { $sealed: 'session/1', box: 'A'.repeat(120) },
  },
})

/** What a chat turn does to the views: new messages and a run, a session and usage that go on. */
const turn = (n: number): Commit[] => [
  { view: 'sessions', changes: [change(n % 500, 2 * n)], position: position.parse(2 * n) },
  {
    view: 'messages',
    changes: [change(2 * n, 2 * n), change(2 * n + 1, 2 * n)],
    position: position.parse(2 * n),
  },
  { view: 'runs', changes: [change(n, 2 * n)], position: position.parse(2 * n) },
  { view: 'usage', changes: [change(n % 20, 2 * n)], position: position.parse(2 * n) },
]

/** And its end: the run, the session, a message and usage change again. */
const end = (n: number): Commit[] => [
  { view: 'sessions', changes: [change(n % 500, 2 * n + 1)], position: position.parse(2 * n + 1) },
  {
    view: 'messages',
    changes: [change(2 * n + 1, 2 * n + 1)],
    position: position.parse(2 * n + 1),
  },
  { view: 'runs', changes: [change(n, 2 * n + 1)], position: position.parse(2 * n + 1) },
]

const perSecond = (count: number, ms: number) => Math.round((count / ms) * 1000)

/** The embedded views, in about three seconds. */
export const benchViews: Section = async ({ dir }) => {
  const views = embeddedViews(await openViewsEnv({ path: join(dir, 'bench-views') }))
  const [sessions, messages] = await Promise.all(
    names.map((name) => views.view<Record<string, unknown>>(specOf(name))),
  )
  if (!sessions || !messages) throw new Error('nothing to measure')

  const turns = 10_000
  const cpu = process.cpuUsage()
  for (let n = 0; n < turns; n++) {
    for (const commit of [turn(n), end(n)]) {
      for (const { view, changes } of commit)
        await views.load(
          view,
          changes.map(({ id }) => id),
        )
      await views.commit(commit)
    }
  }
  const { user, system } = process.cpuUsage(cpu)

  const replayed = 100_000
  const batch = 1_000
  const replayStart = performance.now()
  for (let n = 0; n < replayed; n += batch) {
    const changes = Array.from({ length: batch }, (_, i) => change(1_000_000 + n + i, n))
    await views.commit([{ view: 'messages', changes, position: position.parse(1_000_000 + n) }])
  }
  const replayMs = performance.now() - replayStart

  const gets = 200_000
  const getStart = performance.now()
  for (let n = 0; n < gets; n++) await sessions.get(`${organization}/${idOf(n % 500)}`)
  const getMs = performance.now() - getStart

  const finds = 5_000
  const findStart = performance.now()
  for (let n = 0; n < finds; n++)
    await messages.find({
      index: 'by_user',
      equals: [organization, idOf(n % 50)],
      descending: true,
      limit: 20,
    })
  const findMs = performance.now() - findStart
  await views.close()

  return [
    {
      name: 'views: CPU per chat turn (2 commits, 9 documents, 18 entries)',
      value: Math.round((user + system) / turns),
      unit: 'µs',
    },
    {
      name: 'views: replayed document changes',
      value: perSecond(replayed, replayMs),
      unit: '/s',
    },
    { name: 'views: documents by id', value: perSecond(gets, getMs), unit: '/s' },
    { name: 'views: pages of 20 with total', value: perSecond(finds, findMs), unit: '/s' },
  ]
}
