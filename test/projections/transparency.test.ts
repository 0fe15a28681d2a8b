import fc from 'fast-check'
import t from 'tap'
import { nodesId, transparency } from '../../projections/transparency.ts'
import { START } from '../../src/ports/event-store.ts'
import { batchFolder } from '../../src/projector/batch.ts'
import { memoryProjectionStore } from '../../src/projector/memory-store.ts'
import { leafOf, lineOf } from '../../src/transparency/leaf.ts'
import { inclusionProof } from '../../src/transparency/proofs.ts'
import { foldLog, treesIn } from '../support/folded-trees.ts'
import { projecting } from '../support/given.ts'
import { batchOf, metadata, recorded } from '../support/recorded.ts'
import { includedIn, rootOfLeaves } from '../support/tree-verifier.ts'

const inOrganization = (organization_id: string) => ({
  stream: `box-${organization_id}_b-1`,
  type: 'BoxOpened',
  data: { owner: 'ann' },
  metadata: { ...metadata, organization_id },
})

const log = (length: number, ...organizations: string[]) =>
  recorded(
    Array.from({ length }, (_, n) =>
      inOrganization(organizations[n % organizations.length] ?? 'org-1'),
    ),
  )

t.test('an organization has a tree of its own events, the platform has none', async (t) => {
  const events = log(70, 'org-1', 'platform', 'org-2')
  const documents = await foldLog(events, [9])
  for (const organization of ['org-1', 'org-2']) {
    const own = events.filter(({ metadata }) => metadata.organization_id === organization)
    const tree = await treesIn(documents)(organization)
    t.equal(tree.size, own.length)
    t.strictSame(await tree.root(own.length), rootOfLeaves(own.map(lineOf)))
  }
  t.notOk([...documents.keys()].some((id) => id.startsWith('platform')))
  t.equal((await treesIn(documents)('org-3')).size, 0)
  t.strictSame(await (await treesIn(documents)('org-3')).root(0), rootOfLeaves([]))
})

t.test('a tree can be read while a commit is being stored', async (t) => {
  const events = log(60, 'org-1')
  const store = memoryProjectionStore(transparency)
  const fold = batchFolder([transparency])
  const cursor = { projection: transparency, position: START }
  await store.commit(await fold(store, [cursor], batchOf(events.slice(0, 20))))
  const documents = new Map(store.documents)
  for (const { changes } of await fold(store, [cursor], batchOf(events.slice(20))))
    for (const { id, document } of changes) {
      if (document) documents.set(id, document)
      const tree = await treesIn(documents)('org-1')
      const own = events.slice(0, tree.size).map(lineOf)
      t.strictSame(await tree.root(tree.size), rootOfLeaves(own))
    }
  t.equal((await treesIn(documents)('org-1')).size, 60)
})

t.test('documents are bounded, and depend on the events alone', async (t) => {
  const events = log(4_500, 'org-1')
  const documents = await foldLog(events, [1_000])
  t.strictSame(documents, await foldLog(events, [1, 15, 16, 17, 300]))
  t.strictSame(documents.get('org-1'), {
    organization_id: 'org-1',
    size: 4_500,
    edge: documents.get('org-1')?.edge,
  })
  t.ok(documents.has(nodesId('org-1', 0, 280)))
  t.ok(documents.has(nodesId('org-1', 2, 0)))
  for (const [id, document] of documents) t.ok(JSON.stringify(document).length < 6_000, id)
})

t.test('every earlier tree is in the present one', async (t) => {
  const events = log(700, 'org-1')
  const leaves = events.map(leafOf)
  const tree = await treesIn(await foldLog(events, [64]))('org-1')
  await fc.assert(
    fc.asyncProperty(fc.integer({ min: 1, max: 700 }), fc.nat(), async (size, any) => {
      const index = any % size
      const root = await tree.root(size)
      const leaf = await tree.nodes(0, index)
      const proof = await inclusionProof(tree.nodes, index, size)
      return (
        root.equals(rootOfLeaves(leaves.slice(0, size))) &&
        includedIn({ leaf, index, size, proof, root })
      )
    }),
    { numRuns: 60 },
  )
  t.pass('for any size and index')
})

t.test('few events are all in the right edge', async (t) => {
  const seen = projecting(t, transparency, 'box-org-1_b-1')
  const opened = { type: 'BoxOpened', data: { owner: 'ann' } }
  const tree = { organization_id: 'org-1', size: 2 }
  seen({ ...opened, position: 4 }, { ...opened, position: 9 }).shows(tree, 'org-1')
})
