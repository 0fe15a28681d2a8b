import t, { type Test } from 'tap'
import { connectMongo } from '../../../src/adapters/mongodb/connect.ts'
import { mongoViews } from '../../../src/adapters/mongodb/views.ts'
import { StoreUnavailable } from '../../../src/ports/event-store.ts'
import { CheckpointMoved, type Document, type DocumentChange } from '../../../src/ports/views.ts'
import { viewsContract } from '../../contracts/views.ts'
import { needsMongo, needsRealMongo, ownDatabase, ownMongo } from '../../support/mongo.ts'
import { at } from '../../support/positions.ts'
import { relay } from '../../support/relay.ts'

t.test('MongoDB views', needsMongo, async (t) => {
  const place = async (t: Test) => {
    const url = await ownDatabase(t)
    return {
      open: async () => {
        const mongo = await connectMongo(url)
        return { ...mongoViews(mongo), close: mongo.close }
      },
    }
  }
  viewsContract(t, place, { atomicReads: false })
})

const spec = { name: 'notes', indexes: { by_owner: { equals: ['owner'] } } }

type Standing = { _id: string; [field: string]: unknown }

/** A database with notes folded up to 5, and more nodes to open it. */
const folded = async (t: Test) => {
  const mongo = await ownMongo(t)
  const node = async () => {
    const views = mongoViews(mongo)
    const view = await views.view<Document>(spec)
    const commit = (position: number, ...changes: DocumentChange[]) =>
      views.commit([{ view: 'notes', changes, position: at(position) }])
    return { views, view, commit }
  }
  const first = await node()
  const before = { id: 'a', document: { owner: 'before' } }
  await first.commit(5, before, { id: 'b', document: { owner: 'before' } })
  return { ...first, node, db: mongo.db, standings: mongo.db.collection<Standing>('reprise_views') }
}

const ownersIn = async ({ view }: { view: { get(id: string): Promise<Document | undefined> } }) =>
  Promise.all(['a', 'b'].map(async (id) => (await view.get(id))?.owner))

t.test(
  'a commit cut off after its decision is finished by whoever comes next',
  needsMongo,
  async (t) => {
    const { node, standings } = await folded(t)
    const changes = [
      { id: 'a', document: { owner: 'after' } },
      { id: 'b', document: null },
    ]
    await standings.updateOne(
      { _id: 'notes' },
      { $set: { position: 6, by: 'one who died', changes } },
    )
    const next = await node()
    t.equal(await next.views.checkpoint('notes'), 6)
    t.strictSame(await ownersIn(next), ['after', undefined])
    await next.commit(7, { id: 'b', document: { owner: 'new' } })
    t.strictSame(await ownersIn(next), ['after', 'new'])
  },
)

t.test(
  'a reader during a commit sees some of it, and all once it is applied',
  needsMongo,
  async (t) => {
    const { node, view, standings, db } = await folded(t)
    const after = { owner: 'after' }
    const changes = [
      { id: 'a', document: after },
      { id: 'b', document: after },
    ]
    await standings.updateOne({ _id: 'notes' }, { $set: { position: 6, changes } })
    t.strictSame(await ownersIn({ view }), ['before', 'before'])
    const notes = db.collection<{ _id: string }>('notes')
    await notes.replaceOne({ _id: 'a' }, { ...after, _position: 6, _live: true })
    t.strictSame(await ownersIn({ view }), ['after', 'before'])
    t.equal((await view.find({ index: 'by_owner', equals: ['after'], limit: 2 })).total, 1)
    t.equal(await (await node()).views.checkpoint('notes'), 6, 'is the position of a whole commit')
    t.strictSame(await ownersIn({ view }), ['after', 'after'])
  },
)

t.test(
  'readers see one generation or the other during a swap',
  needsRealMongo('does not replace a collection in one step'),
  async (t) => {
    const { views, view } = await folded(t)
    for (let position = 6; position < 16; position++) {
      await views.beginRebuild('notes')
      const changes = ['a', 'b'].map((id) => ({ id, document: { owner: 'rebuilt' } }))
      await views.commit([{ view: 'notes', changes, position: at(position) }], 'rebuild')
      let swapping = true
      const swapped = views.swap('notes').then(() => {
        swapping = false
      })
      while (swapping) if (!(await view.get('a'))) t.fail('neither of them')
      await swapped
      t.strictSame(await ownersIn({ view }), ['rebuilt', 'rebuilt'])
    }
  },
)

t.test('a commit in several parts is finished as well', needsMongo, async (t) => {
  const { node, standings, db } = await folded(t)
  const text = 'x'.repeat(1_500_000)
  const large = Array.from({ length: 7 }, (_, n) => ({
    id: `n${n}`,
    document: { owner: 'l', text },
  }))
  const writer = await node()
  await writer.commit(6, ...large)
  const result = await writer.view.find({ index: 'by_owner', equals: ['l'], limit: 10 })
  t.equal(result.total, 7)
  const parts = db.collection<Standing>('reprise_view_parts')
  t.equal(await parts.countDocuments(), 0)

  await parts.insertOne({ _id: 'notes@7#0', changes: [{ id: 'b', document: { owner: 'part' } }] })
  const changes = [{ id: 'a', document: { owner: 'first' } }]
  await standings.updateOne({ _id: 'notes' }, { $set: { position: 7, changes, parts: 1 } })
  const next = await node()
  t.equal(await next.views.checkpoint('notes'), 7)
  t.strictSame(await ownersIn(next), ['first', 'part'])
  t.equal(await parts.countDocuments(), 0)
})

t.test('a writer who was outrun is refused until it starts over', needsMongo, async (t) => {
  const { node } = await folded(t)
  const [slow, fast] = [await node(), await node()]
  t.equal(await slow.views.checkpoint('notes'), 5)
  t.equal(await fast.views.checkpoint('notes'), 5)
  await fast.commit(6, { id: 'a', document: { owner: 'fast' } })
  await fast.commit(7, { id: 'b', document: undefined })

  await slow.commit(6, { id: 'a', document: { owner: 'slow' } })
  await t.rejects(slow.commit(8, { id: 'a', document: { owner: 'slow' } }), CheckpointMoved)
  await t.rejects(slow.commit(8, { id: 'a', document: { owner: 'slow' } }), CheckpointMoved)
  t.strictSame(await ownersIn(slow), ['fast', undefined])

  t.equal(await slow.views.checkpoint('notes'), 7)
  await slow.commit(8, { id: 'a', document: { owner: 'slow' } })
  t.strictSame(await ownersIn(fast), ['slow', undefined])
})

t.test('documents written too late do not replace later ones', needsMongo, async (t) => {
  const { node, commit, standings } = await folded(t)
  await commit(9, { id: 'a', document: { owner: 'later' } }, { id: 'b', document: undefined })
  const changes = ['a', 'b', 'c'].map((id) => ({ id, document: { owner: 'late' } }))
  await standings.updateOne({ _id: 'notes' }, { $set: { position: 8, applied: 5, changes } })
  const next = await node()
  await next.views.checkpoint('notes')
  t.strictSame(await ownersIn(next), ['later', undefined])
  t.strictSame(await next.view.get('c'), { owner: 'late' })
})

t.test('a swap cut off in the middle is finished', needsMongo, async (t) => {
  const { node, views, standings } = await folded(t)
  await views.beginRebuild('notes')
  const rebuilt = { id: 'a', document: { owner: 'rebuilt' } }
  await views.commit([{ view: 'notes', changes: [rebuilt], position: at(8) }], 'rebuild')
  const decided = { position: 8, applied: 8, swapping: true }
  await standings.updateOne({ _id: 'notes' }, { $set: decided })
  const next = await node()
  t.equal(await next.views.checkpoint('notes'), 8)
  t.strictSame(await ownersIn(next), ['rebuilt', undefined])
  await t.rejects(next.views.checkpoint('notes', 'rebuild'), TypeError)
})

t.test(
  'every declared index is a real one, and what is not declared goes',
  needsMongo,
  async (t) => {
    const { views, db } = await folded(t)
    const real = async () =>
      (await db.collection('notes').indexes())
        .map(({ key }) => Object.keys(key).join(' '))
        .toSorted()
    await db.collection('notes').createIndex({ theirs: 1 })
    t.strictSame(await real(), ['_id', '_removed', 'owner _id', 'theirs'])
    const indexes = {
      by_run: { equals: ['owner', 'run.state'], orderBy: 'at' },
      latest: { equals: [], orderBy: 'at' },
    }
    await views.view({ name: 'notes', indexes })
    t.strictSame(await real(), [
      '_id',
      '_live at _id',
      '_removed',
      'owner run.state at _id',
      'theirs',
    ])
  },
)

t.test('out of reach it says so, and goes on where it was', needsMongo, async (t) => {
  const url = new URL(await ownDatabase(t))
  const way = await relay(Number(url.port))
  url.port = `${way.port}`
  url.search = 'serverSelectionTimeoutMS=300'
  const mongo = await connectMongo(url.href)
  const views = mongoViews(mongo)
  const view = await views.view<Document>(spec)
  t.teardown(async () => {
    await mongo.close()
    await way.cut()
  })
  const commit = () =>
    views.commit([
      { view: 'notes', changes: [{ id: 'a', document: { owner: 'o' } }], position: at(1) },
    ])
  await way.cut()
  await t.rejects(commit(), StoreUnavailable)
  await t.rejects(view.get('a'), StoreUnavailable)
  await way.restore()
  const reached = () =>
    commit().then(
      () => true,
      () => false,
    )
  for (let n = 0; n < 100 && !(await reached()); n++);
  t.strictSame(await view.get('a'), { owner: 'o' })
})
