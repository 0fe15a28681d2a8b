import fc from 'fast-check'
import t from 'tap'
import { type RunView, runId, type TreeView, transparency } from '../../projections/transparency.ts'
import { readTree } from '../../queries/read-tree.ts'
import { batchFolder, commitsOf } from '../../src/batch.ts'
import type { Lane } from '../../src/fold.ts'
import { memorySink } from '../../src/memory-sink.ts'
import { type RecordedEvent, START } from '../../src/ports/event-store.ts'
import { leafOf, lineOf } from '../../src/transparency/leaf.ts'
import { inclusionProof } from '../../src/transparency/proofs.ts'
import { metadata, recorded } from '../support/recorded.ts'
import { includedIn, rootOfLeaves } from '../support/tree-verifier.ts'

const inOrganization = (organization_id: string) => ({
  stream: `box-${organization_id}_b-1`,
  type: 'BoxOpened',
  data: { owner: 'ann' },
  metadata: { ...metadata, organization_id },
})

/** Folded in batches of these lengths, over and over. */
const folded = async (log: readonly RecordedEvent[], lengths: readonly number[]) => {
  const sink = memorySink(transparency)
  const fold = batchFolder([transparency])
  const lane: Lane = { projection: transparency, position: START }
  for (let at = 0, n = 0; at < log.length; n++) {
    const length = lengths[n % lengths.length] ?? 1
    const outcomes = await fold(sink, [lane], log.slice(at, at + length))
    await sink.commit(commitsOf(outcomes))
    for (const { position, error } of outcomes) Object.assign(lane, { position, error })
    at += length
  }
  if (lane.error) throw lane.error
  return sink.documents
}

const treeIn = (documents: Awaited<ReturnType<typeof folded>>, organizationId: string) =>
  readTree({
    get: async (id) => documents.get(id) as TreeView | RunView | undefined,
    find: async () => ({ items: [], total: 0 }),
    all: () => (async function* () {})(),
  })(organizationId)

const log = (length: number, ...organizations: string[]) =>
  recorded(
    Array.from({ length }, (_, n) =>
      inOrganization(organizations[n % organizations.length] ?? 'org-1'),
    ),
  )

t.test('an organization has a tree of its own events, the platform has none', async (t) => {
  const events = log(70, 'org-1', 'platform', 'org-2')
  const documents = await folded(events, [9])
  for (const organization of ['org-1', 'org-2']) {
    const own = events.filter(({ metadata }) => metadata.organization_id === organization)
    const tree = await treeIn(documents, organization)
    t.equal(tree.size, own.length)
    t.strictSame(await tree.root(own.length), rootOfLeaves(own.map(lineOf)))
    t.strictSame(
      await tree.positions({ from: 0, to: own.length }),
      own.map(({ position }) => position),
    )
  }
  t.notOk([...documents.keys()].some((id) => id.startsWith('platform')))
  t.equal((await treeIn(documents, 'org-3')).size, 0)
  t.strictSame(await (await treeIn(documents, 'org-3')).root(0), rootOfLeaves([]))
})

t.test('documents are bounded, and depend on the events alone', async (t) => {
  const events = log(4_500, 'org-1')
  const documents = await folded(events, [1_000])
  t.strictSame(documents, await folded(events, [1, 15, 16, 17, 300]))
  t.strictSame(documents.get('org-1'), {
    organization_id: 'org-1',
    size: 4_500,
    edge: documents.get('org-1')?.edge,
    positions: [4_496, 4_497, 4_498, 4_499],
  })
  t.match(documents.get(runId('org-1', 0, 280)), { positions: [4_480] })
  t.ok(documents.has(runId('org-1', 2, 0)))
  for (const [id, document] of documents) t.ok(JSON.stringify(document).length < 6_000, id)
})

t.test('every earlier tree is in the present one', async (t) => {
  const events = log(700, 'org-1')
  const leaves = events.map(leafOf)
  const tree = await treeIn(await folded(events, [64]), 'org-1')
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
