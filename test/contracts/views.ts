import fc from 'fast-check'
import type { Test } from 'tap'
import { START } from '../../src/ports/event-store.ts'
import {
  type Document,
  type DocumentChange,
  DocumentRefused,
  type Find,
  type Scalar,
  type View,
  type ViewSpec,
  type Views,
} from '../../src/ports/views.ts'
import { at } from '../support/positions.ts'
import { model } from '../support/views-model.ts'

/** A fresh, empty store that can be opened, closed and opened again. */
export type ViewsPlace = { open(): Promise<Views> }

const spec: ViewSpec = {
  name: 'notes',
  indexes: {
    by_owner: { equals: ['owner'], orderBy: 'at' },
    by_state: { equals: ['owner', 'run.state'], orderBy: 'rank' },
    by_rank: { equals: [], orderBy: 'rank' },
    by_flag: { equals: ['flag'] },
  },
}

type Note = { owner?: unknown; at?: unknown; rank?: unknown; flag?: unknown; run?: unknown }

const note = (id: string, document: Note | undefined): DocumentChange => ({ id, document })

const everything = async (view: View<Document>): Promise<Record<string, Document>> => {
  const documents: Record<string, Document> = {}
  for await (const batch of view.all())
    for (const { id, document } of batch) documents[id] = document
  return documents
}

/** What adapters differ in (src/ports/views.ts). */
export type ViewsGuarantees = {
  /** A commit is seen at once, and every answer is as of one moment. */
  atomicReads: boolean
}

/** What every views adapter owes its callers. */
export const viewsContract = (
  t: Test,
  place: (t: Test) => Promise<ViewsPlace>,
  { atomicReads }: ViewsGuarantees,
) => {
  const ifAtomic = atomicReads ? {} : { skip: 'this adapter has no atomic reads' }
  const opened = async (t: Test) => {
    const views = await (await place(t)).open()
    t.teardown(() => views.close())
    const view = await views.view<Document>(spec)
    const commit = (position: number, ...changes: DocumentChange[]) =>
      views.commit([{ view: 'notes', changes, position: at(position) }])
    return { views, view, commit }
  }

  t.test('a commit that more follow is read as any other, and kept', async (t) => {
    const where = await place(t)
    const views = await where.open()
    const view = await views.view<Document>(spec)
    const owned = (n: number) => note(`${n % 300}`, { owner: 'o', ...(n % 7 ? { at: n } : {}) })
    for (let n = 0; n < 900; n += 300) {
      const changes = Array.from({ length: 300 }, (_, index) => owned(n + index))
      await views.commit([{ view: 'notes', changes, position: at(n) }], 'live', true)
      t.equal(await views.checkpoint('notes'), n)
      t.strictSame(await view.get('17'), owned(n + 17).document)
    }
    await views.commit([{ view: 'notes', changes: [note('17', undefined)], position: at(9_000) }])
    const byOwner = { index: 'by_owner', equals: ['o'], from: 890, limit: 3 }
    const page = await view.find(byOwner)
    t.strictSame(
      page.items.map(({ at }) => at),
      [890, 891, 892],
    )
    t.equal((await view.find({ index: 'by_owner', equals: ['o'], limit: 0 })).total, 299)
    await views.close()
    const again = await where.open()
    t.teardown(() => again.close())
    const reopenedView = await again.view<Document>(spec)
    t.equal(await again.checkpoint('notes'), 9_000)
    t.equal(Object.keys(await everything(reopenedView)).length, 299)
    t.strictSame(await reopenedView.find(byOwner), page)
  })

  t.test('a commit is there when it resolves: documents, indexes and checkpoint', async (t) => {
    const { views, view, commit } = await opened(t)
    t.equal(await views.checkpoint('notes'), -1)
    await commit(7, note('a', { owner: 'o', at: '1' }), note('b', { owner: 'o', at: '2' }))
    t.equal(await views.checkpoint('notes'), 7)
    t.strictSame(await view.get('a'), { owner: 'o', at: '1' })
    t.equal(await view.get('c'), undefined)
    t.strictSame(await views.load('notes', ['b', 'c']), new Map([['b', { owner: 'o', at: '2' }]]))
    t.strictSame(await view.find({ index: 'by_owner', equals: ['o'], limit: 10 }), {
      items: [
        { owner: 'o', at: '1' },
        { owner: 'o', at: '2' },
      ],
      total: 2,
    })
  })

  t.test('a changed document leaves its old place in an index', async (t) => {
    const { view, commit } = await opened(t)
    const ofOwner = (owner: string) => view.find({ index: 'by_owner', equals: [owner], limit: 10 })
    await commit(1, note('a', { owner: 'o', at: '1' }), note('b', { owner: 'o', at: '1' }))
    await ofOwner('o')
    await commit(2, note('a', { owner: 'p', at: '1' }), note('b', undefined))
    t.strictSame(await ofOwner('o'), { items: [], total: 0 })
    t.strictSame(await ofOwner('p'), { items: [{ owner: 'p', at: '1' }], total: 1 })
    t.equal(await view.get('b'), undefined)
  })

  t.test('a commit at or below the checkpoint changes nothing', async (t) => {
    const { views, view, commit } = await opened(t)
    await commit(5, note('a', { owner: 'new' }))
    await commit(5, note('a', { owner: 'again' }))
    await commit(4, note('a', { owner: 'old' }), note('b', { owner: 'old' }))
    t.strictSame(await everything(view), { a: { owner: 'new' } })
    t.equal(await views.checkpoint('notes'), 5)
  })

  t.test('the last of several changes of one document holds', async (t) => {
    const { view, commit } = await opened(t)
    await commit(1, note('a', { owner: '1' }), note('a', undefined), note('a', { owner: '2' }))
    t.strictSame(await view.find({ index: 'by_owner', equals: ['2'], limit: 1 }), {
      items: [{ owner: '2' }],
      total: 1,
    })
  })

  t.test('one commit takes several read models forward', async (t) => {
    const { views, commit } = await opened(t)
    await commit(1, note('a', { owner: 'o' }))
    const other = await views.view<Document>({ name: 'others', indexes: {} })
    await views.commit([
      { view: 'notes', changes: [note('a', undefined)], position: at(2) },
      { view: 'others', changes: [note('a', { owner: 'x' })], position: at(2) },
    ])
    t.strictSame(await other.get('a'), { owner: 'x' })
    t.strictSame([await views.checkpoint('notes'), await views.checkpoint('others')], [2, 2])
  })

  const ids = Array.from({ length: 12 }, (_, n) => `note ${String(n).padStart(2, '0')}`)
  /** Commits that each change all of these notes; resolves when the last one has. */
  const rounds = async ({ commit }: Awaited<ReturnType<typeof opened>>, count: number) => {
    for (let rank = 1; rank <= count; rank++)
      await commit(rank, ...ids.map((id) => note(id, { owner: 'o', rank, at: `${rank}` })))
  }
  const query = { index: 'by_owner', equals: ['o'], limit: 100 }

  t.test('a reader during a commit sees whole documents, and none grow older', async (t) => {
    const store = await opened(t)
    let writing = true
    const commits = rounds(store, 6).then(() => {
      writing = false
    })
    const latest = new Map<string, number>()
    const newer = (id: string, document: Document | undefined) => {
      const { rank = 0, at = '0' } = document ?? {}
      if (at !== `${rank}`) t.fail(`${id} is of ${at} and ${rank}`)
      if (Number(rank) < (latest.get(id) ?? 0)) t.fail(`${id} was newer`)
      latest.set(id, Number(rank))
      return Number(rank)
    }
    const [first = '', last = ''] = [ids[0], ids.at(-1)]
    while (writing) {
      const seen = newer(last, await store.view.get(last))
      const before = newer(first, await store.view.get(first))
      if (before < seen) t.fail('the last change of a commit was there before the first')
      for (const { rank, at } of (await store.view.find(query)).items)
        if (at !== `${rank}`) t.fail(`a note is of ${at} and ${rank}`)
    }
    await commits
    const { items, total } = await store.view.find(query)
    t.equal(total, ids.length)
    t.strictSame(new Set(items.map(({ rank }) => rank)), new Set([6]))
  })

  t.test('a reader sees all of a commit or nothing', ifAtomic, async (t) => {
    const store = await opened(t)
    let writing = true
    const commits = rounds(store, 6).then(() => {
      writing = false
    })
    while (writing) {
      const { items, total } = await store.view.find(query)
      if (items.length !== total) t.fail(`${items.length} of ${total} items`)
      if (new Set(items.map(({ rank }) => rank)).size > 1) t.fail('items of two commits')
    }
    await commits
    t.equal((await store.view.find(query)).total, ids.length)
  })

  t.test('all documents are as of one moment', ifAtomic, async (t) => {
    const { view, commit } = await opened(t)
    const many = Array.from({ length: 1_100 }, (_, n) => `note ${String(n).padStart(4, '0')}`)
    await commit(1, ...many.map((id) => note(id, { rank: 1 })))
    const ranks = new Set<unknown>()
    let batches = 0
    for await (const batch of view.all()) {
      if (batches++ === 0) await commit(2, ...many.map((id) => note(id, { rank: 2 })))
      for (const { document } of batch) ranks.add(document.rank)
    }
    t.ok(batches > 1)
    t.strictSame(ranks, new Set([1]))
  })

  t.test('null is a value, a missing field is not', async (t) => {
    const { view, commit } = await opened(t)
    await commit(
      1,
      note('null', { owner: null, at: 'a' }),
      note('missing', { at: 'b' }),
      note('empty', { owner: '', at: 'c' }),
      note('no order', { owner: null }),
    )
    t.strictSame(await view.find({ index: 'by_owner', equals: [null], limit: 10 }), {
      items: [{ owner: null }, { owner: null, at: 'a' }],
      total: 2,
    })
    t.strictSame(await view.find({ index: 'by_rank', equals: [], limit: 0 }), {
      items: [],
      total: 4,
    })
  })

  t.test('names that databases keep for themselves are names like any other', async (t) => {
    const { views, view, commit } = await opened(t)
    const document = {
      owner: 'o',
      text: { $sealed: 'key-1', box: 'AAAA' },
      by: { 'a.b': { $ref: 1 }, '': 0, '%24': 1, _bsontype: 'Long', constructor: null },
      _id: 'mine',
      _position: 3,
      $top: [{ $in: [1] }, null, 'x', 0.5, -1, 2 ** 52],
    }
    await commit(1, note('a', document))
    t.strictSame(await view.get('a'), document)
    t.strictSame((await views.load('notes', ['a'])).get('a'), document)
    t.strictSame(await everything(view), { a: document })
    t.strictSame((await view.find({ index: 'by_owner', equals: ['o'], limit: 1 })).items, [
      document,
    ])
  })

  t.test('long values are found and told apart', async (t) => {
    const { view, commit } = await opened(t)
    const long = 'ü'.repeat(3000)
    await commit(
      1,
      note('1', { owner: `${long}1`, at: '1' }),
      note('2', { owner: `${long}2`, at: long }),
      note('3', { owner: `${long}2`, at: `a\0${long}` }),
    )
    const page = await view.find({ index: 'by_owner', equals: [`${long}2`], limit: 5 })
    t.equal(page.total, 2)
    t.strictSame(
      page.items.map(({ at }) => String(at).length),
      [3002, 3000],
    )
  })

  t.test('the ids under an index, and documents by id in order', async (t) => {
    const { views, view, commit } = await opened(t)
    const ids = Array.from({ length: 603 }, (_, n) => `note ${String(n).padStart(4, '0')}`)
    await commit(1, ...ids.map((id, n) => note(id, { owner: `o${n % 2}`, at: n })))
    t.strictSame(
      (await views.idsOf('notes', 'by_owner', ['o1'])).toSorted(),
      ids.filter((_, n) => n % 2 === 1),
    )
    t.strictSame(Object.keys(await everything(view)), ids)
  })

  t.test('a document that no store can hold is refused, and nothing else', async (t) => {
    const { views, view, commit } = await opened(t)
    const others = await views.view<Document>({ name: 'others', indexes: {} })
    const nested = (levels: number): Document => (levels === 0 ? {} : { not: nested(levels - 1) })
    const impossible = {
      deep: nested(2_500),
      'a little too deep': nested(64),
      large: { text: 'x'.repeat(13 * 1024 * 1024) },
      'large in parts': { texts: Array.from({ length: 20 }, () => 'x'.repeat(1_000_000)) },
      'not data': { text: () => 'x' },
    }
    for (const [why, document] of Object.entries(impossible)) {
      const both = [
        { view: 'others', changes: [{ id: 'b', document: { text: 'b' } }], position: at(1) },
        { view: 'notes', changes: [{ id: 'a', document }], position: at(1) },
      ]
      await t.rejects(views.commit(both), DocumentRefused, why)
      t.equal(await views.checkpoint('notes'), START)
      t.equal(await others.get('b'), undefined, 'nothing of the commit is stored')
    }
    const possible = { text: 'x'.repeat(1_000_000), inner: nested(60) }
    await commit(1, { id: 'a', document: possible })
    t.strictSame(await view.get('a'), possible)
  })

  t.test('undeclared indexes and views are refused', async (t) => {
    const { views, view } = await opened(t)
    await t.rejects(view.find({ index: 'by_nothing', equals: [], limit: 1 }), TypeError)
    await t.rejects(view.find({ index: 'by_owner', equals: [], limit: 1 }), TypeError)
    await t.rejects(views.checkpoint('nothing'), TypeError)
    await t.rejects(views.checkpoint('notes', 'rebuild'), TypeError)
    await t.rejects(views.swap('notes'), TypeError)
  })

  t.test('reopened, everything is where it was', async (t) => {
    const { open } = await place(t)
    const before = await open()
    await before.view(spec)
    await before.commit([{ view: 'notes', changes: [note('a', { owner: 'o' })], position: at(9) }])
    await before.close()
    const views = await open()
    t.teardown(() => views.close())
    const view = await views.view<Document>(spec)
    t.equal(await views.checkpoint('notes'), 9)
    t.strictSame(await view.find({ index: 'by_owner', equals: ['o'], limit: 1 }), {
      items: [{ owner: 'o' }],
      total: 1,
    })
  })

  t.test('indexes that a new version declares are filled, others forgotten', async (t) => {
    const { views, commit } = await opened(t)
    await commit(3, note('a', { owner: 'o', rank: 2 }), note('b', { owner: 'o', rank: 1 }))
    const indexes = {
      by_owner: { equals: ['owner'], orderBy: 'rank' },
      by_both: { equals: ['rank', 'owner'] },
    }
    const view = await views.view<Document>({ name: 'notes', indexes })
    t.strictSame(await view.find({ index: 'by_owner', equals: ['o'], limit: 10 }), {
      items: [
        { owner: 'o', rank: 1 },
        { owner: 'o', rank: 2 },
      ],
      total: 2,
    })
    t.equal((await view.find({ index: 'by_both', equals: [2, 'o'], limit: 1 })).total, 1)
    await t.rejects(view.find({ index: 'by_flag', equals: [1], limit: 1 }), TypeError)
    t.equal(await views.checkpoint('notes'), 3)
  })

  t.test('documents have the version of their read model at its beginning', async (t) => {
    const { open } = await place(t)
    const before = await open()
    await before.view(spec)
    t.equal(await before.version('notes'), 1)
    await before.close()
    const views = await open()
    t.teardown(() => views.close())
    await views.view({ ...spec, version: 2 })
    t.equal(await views.version('notes'), 1, 'they are as they were')
    await views.beginRebuild('notes')
    t.equal(await views.version('notes'), 1)
    await views.swap('notes')
    t.equal(await views.version('notes'), 2)
    await views.view({ ...spec, name: 'others', version: 3 })
    t.equal(await views.version('others'), 3, 'a new one')
    await t.rejects(views.version('none'), TypeError)
  })

  t.test('totals that are not kept are right all the same, also once they are kept', async (t) => {
    const { views, commit } = await opened(t)
    const total = async (totals: { totals?: false }) => {
      const indexes = { by_flag: { equals: ['flag'], ...totals } }
      const view = await views.view<Document>({ name: 'notes', indexes })
      return (await view.find({ index: 'by_flag', equals: [1], limit: 1 })).total
    }
    await commit(1, note('a', { flag: 1 }), note('b', { flag: 2 }))
    t.equal(await total({ totals: false }), 1)
    await commit(2, note('c', { flag: 1 }), note('d', { flag: 1 }))
    t.equal(await total({ totals: false }), 3)
    t.equal(await total({}), 3)
    await commit(3, note('a', undefined))
    t.equal(await total({}), 2)
  })

  t.test('a total that the asker knows is not counted', async (t) => {
    const { view, commit } = await opened(t)
    await commit(1, note('a', { owner: 'o', at: '1' }), note('b', { owner: 'o', at: '2' }))
    await commit(2, note('c', { owner: 'p', at: '1' }))
    const byOwner = { index: 'by_owner', equals: ['o'], limit: 5 }
    t.strictSame(await view.find({ ...byOwner, skip: 1, total: 9 }), {
      items: [{ owner: 'o', at: '2' }],
      total: 9,
    })
    t.strictSame(await view.find({ ...byOwner, skip: 3, total: 9 }), { items: [], total: 9 })
    t.strictSame(await view.find({ ...byOwner, skip: 3, total: 1 }), { items: [], total: 1 })
  })

  t.test('reading stops once the items reach the bound in bytes', async (t) => {
    const { view, commit } = await opened(t)
    const at = (n: number) => String(n).repeat(1_000)
    const notes = [1, 2, 3, 4, 5].map((n) => ({ owner: 'o', at: at(n) }))
    await commit(1, ...notes.map((document, n) => note(String(n), document)))
    const byOwner = { index: 'by_owner', equals: ['o'], limit: 5 }
    const [first, second, third] = notes
    const cut = true
    t.strictSame(await view.find({ ...byOwner, bytes: 2_500 }), {
      items: [first, second, third],
      total: 5,
      cut,
    })
    t.strictSame(await view.find({ ...byOwner, skip: 1, bytes: 1 }), {
      items: [second],
      total: 5,
      cut,
    })
    t.strictSame(await view.find({ ...byOwner, skip: 4, bytes: 1 }), {
      items: notes.slice(4),
      total: 5,
    })
    t.strictSame(await view.find({ ...byOwner, bytes: 1_000_000 }), { items: notes, total: 5 })
    t.strictSame(await view.find({ ...byOwner, limit: 2, bytes: 1_500 }), {
      items: [first, second],
      total: 5,
    })
  })

  t.test('a rebuild grows beside the live generation and replaces it whole', async (t) => {
    const { views, view, commit } = await opened(t)
    await commit(5, note('a', { owner: 'old' }), note('b', { owner: 'old' }))
    await views.beginRebuild('notes')
    t.equal(await views.checkpoint('notes', 'rebuild'), -1)
    const rebuilt = { view: 'notes', changes: [note('a', { owner: 'new' })], position: at(6) }
    await views.commit([rebuilt], 'rebuild')
    await commit(7, note('c', { owner: 'old' }))

    t.strictSame(Object.keys(await everything(view)), ['a', 'b', 'c'])
    t.strictSame((await views.load('notes', ['a'])).get('a'), { owner: 'old' })
    t.strictSame((await views.load('notes', ['a'], 'rebuild')).get('a'), { owner: 'new' })
    t.strictSame(await views.idsOf('notes', 'by_owner', ['new'], 'rebuild'), ['a'])
    t.strictSame(await views.idsOf('notes', 'by_owner', ['new']), [])

    await views.swap('notes')
    t.strictSame(await everything(view), { a: { owner: 'new' } })
    t.equal(await views.checkpoint('notes'), 6)
    t.strictSame(await view.find({ index: 'by_owner', equals: ['old'], limit: 10 }), {
      items: [],
      total: 0,
    })
    await commit(8, note('d', { owner: 'new' }))
    t.equal((await view.find({ index: 'by_owner', equals: ['new'], limit: 10 })).total, 2)
    await t.rejects(views.checkpoint('notes', 'rebuild'), TypeError)
  })

  t.test('a rebuild begun again starts from nothing', async (t) => {
    const { views } = await opened(t)
    await views.beginRebuild('notes')
    const first = { view: 'notes', changes: [note('a', { owner: 'o' })], position: at(6) }
    await views.commit([first], 'rebuild')
    await views.beginRebuild('notes')
    t.equal(await views.checkpoint('notes', 'rebuild'), -1)
    t.strictSame(await views.load('notes', ['a'], 'rebuild'), new Map())
  })

  t.test('documents with any of several last values come in one order, page by page', async (t) => {
    const { view, commit } = await opened(t)
    const ranks = Array.from({ length: 40 }, (_, n) => (n * 7) % 20)
    await commit(
      1,
      ...ranks.map((rank, n) =>
        note(`n${n}`, { owner: 'o', rank, at: n, run: { state: ['x', 'y', 'z'][n % 3] } }),
      ),
    )
    const byState = { index: 'by_state', equals: ['o', 'x'], orLast: ['y', 'x'] }
    const all = await view.find({ ...byState, limit: 100 })
    t.equal(all.total, 27)
    const places = all.items.map(({ rank, at }) => [Number(rank), `n${at}`] as const)
    t.strictSame(
      places,
      places.toSorted(([rankA, idA], [rankB, idB]) => rankA - rankB || (idA < idB ? -1 : 1)),
    )
    const pages: unknown[] = []
    for (let skip = 0; skip < 27; skip += 4) {
      const page = await view.find({ ...byState, descending: true, skip, limit: 4 })
      t.equal(page.total, 27)
      pages.push(...page.items)
    }
    t.strictSame(pages, all.items.toReversed())
  })

  t.test(
    'an index ordered by texts of a nested field is read from behind, page by page',
    async (t) => {
      const { views } = await opened(t)
      const by_cost = { equals: ['owner'], orderBy: 'order.cost', totals: false } as const
      const view = await views.view<Document>({ name: 'costs', indexes: { by_cost } })
      const cost = (n: number): Document => ({
        owner: 'o',
        order: { cost: `${`${n >> 1}`.padStart(16, '0')}/${n}` },
      })
      const unknown = { owner: 'o', order: { cost: '-/none' } }
      const changes: DocumentChange[] = Array.from({ length: 10 }, (_, n) => ({
        id: `${n}`,
        document: cost(n),
      }))
      changes.push({ id: 'none', document: unknown }, note('p', { owner: 'p' }))
      await views.commit([{ view: 'costs', changes, position: at(1) }])
      const pages: Document[][] = []
      let below: string | undefined
      do {
        const bound = below === undefined ? {} : { below }
        const query = { index: 'by_cost', equals: ['o'], descending: true, limit: 4, total: 1 }
        const { items } = await view.find({ ...query, ...bound })
        pages.push(items)
        below = (items.at(-1)?.order as { cost: string } | undefined)?.cost
      } while (below !== undefined)
      const nines = [9, 8, 7, 6, 5, 4, 3, 2, 1, 0].map(cost)
      t.strictSame(pages, [nines.slice(0, 4), nines.slice(4, 8), [...nines.slice(8), unknown], []])
    },
  )

  t.test('any commits and questions answer as a plain list would', async (t) => {
    const { open } = await place(t)
    const views = await open()
    t.teardown(() => views.close())

    const owner = fc.constantFrom<unknown>('o', 'p', null, '', 'ü', 7, true, undefined)
    const rank = fc.oneof(
      { weight: 6, arbitrary: fc.integer({ min: -3, max: 3 }) },
      fc.double({ noNaN: true, noDefaultInfinity: true }),
      fc.constantFrom(null, undefined),
    )
    const moment = fc.oneof(fc.string({ unit: 'binary', maxLength: 4 }), fc.constantFrom('a', 'ab'))
    const field = (name: string, values: fc.Arbitrary<unknown>) =>
      values.map((value) => (value === undefined ? {} : { [name]: value }))
    const state = fc.constantFrom<Scalar>('x', 'y', null)
    const document = fc
      .tuple(
        field('owner', owner),
        field('rank', rank),
        field('at', moment),
        fc.oneof(
          fc.constant({}),
          state.map((state) => ({ run: { state } })),
        ),
      )
      .map((fields): Document => Object.assign({}, ...fields))
    const change = fc.record({
      id: fc.integer({ min: 0, max: 9 }).map((n) => `n${n}`),
      document: fc.option(document, { nil: undefined, freq: 4 }),
    })
    const page = {
      descending: fc.boolean(),
      skip: fc.oneof(fc.nat(3), fc.constant(Number.MAX_SAFE_INTEGER)),
      limit: fc.nat(4),
    }
    const scalar = fc.constantFrom<Scalar>('o', 'p', null, '', 'ü', 7, true)
    const others = (values: fc.Arbitrary<Scalar>) => ({
      orLast: fc.option(fc.array(values, { maxLength: 3 }), { nil: undefined }),
    })
    const bounds = (values: fc.Arbitrary<string | number>) => ({
      from: fc.option(values, { nil: undefined }),
      below: fc.option(values, { nil: undefined }),
    })
    const query = fc.oneof(
      fc.record({
        index: fc.constant('by_owner'),
        equals: fc.tuple(scalar),
        ...others(scalar),
        ...bounds(fc.constantFrom('', 'a', 'ab', 'b')),
        ...page,
      }),
      fc.record({
        index: fc.constant('by_state'),
        equals: fc.tuple(scalar, state),
        ...others(state),
        ...bounds(fc.integer({ min: -3, max: 3 })),
        ...page,
      }),
      fc.record({
        index: fc.constant('by_rank'),
        equals: fc.constant([]),
        ...bounds(fc.integer({ min: -3, max: 3 })),
        ...page,
      }),
      fc.record({
        index: fc.constant('by_flag'),
        equals: fc.tuple(scalar),
        ...others(scalar),
        ...page,
      }),
    )
    const step = fc.oneof(
      fc.array(change, { maxLength: 6 }).map((changes) => ({ changes })),
      query.map((raw) => ({
        query: Object.fromEntries(
          Object.entries(raw).filter(([, value]) => value !== undefined),
        ) as Find,
      })),
    )

    let n = 0
    await fc.assert(
      fc.asyncProperty(fc.array(step, { maxLength: 12 }), async (steps) => {
        const name = `random_${n++}`
        const view = await views.view<Document>({ ...spec, name })
        const plain = model(spec)
        for (const [position, step] of steps.entries())
          if ('changes' in step) {
            await views.commit([{ view: name, changes: step.changes, position: at(position) }])
            plain.commit(step.changes)
          } else t.strictSame(await view.find(step.query), plain.find(step.query))
        t.strictSame(await everything(view), plain.everything())
      }),
      { numRuns: 60, endOnFailure: true },
    )
  })
}
