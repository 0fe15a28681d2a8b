import fc from 'fast-check'
import t from 'tap'
import { isIncluded, treeHashes } from '../../../console/src/proof/merkle.ts'
import { type Tile, tiledTree, tilePath } from '../../../console/src/proof/tiles.ts'
import { inclusionProof } from '../../../src/transparency/proofs.ts'
import { leavesTree } from '../../support/leaves-tree.ts'

const hashes = treeHashes(globalThis.crypto.subtle)
const own = (buffer: Uint8Array) => new Uint8Array(buffer)

t.test('tiles have the paths of C2SP tlog-tiles', async (t) => {
  for (const [path, n, width] of [
    ['000', 0, 256],
    ['999.p/1', 999, 1],
    ['x001/000', 1_000, 256],
    ['x001/x234/067', 1_234_067, 256],
    ['x001/x234/067.p/255', 1_234_067, 255],
  ] as const)
    t.equal(tilePath({ n, width }), path)
})

/** The requests for tiles that prove the leaf with this index in a tree of this size. */
const requestsFor = async (size: number, index: number) => {
  const requests: { level: number; tile: Tile }[] = []
  const tree = tiledTree({
    size,
    hashes,
    read: async (level, tile) => {
      requests.push({ level, tile })
      return Array.from({ length: tile.width }, () => new Uint8Array(32))
    },
  })
  await Promise.all([tree.leafHash(index), tree.inclusionProof(index)])
  return requests.map(({ level, tile }) => `${level}/${tilePath(tile)}`).toSorted()
}

t.test('only tiles of the tree of the signed size are read, each once', async (t) => {
  // The specification’s example of a tree of 70,000 leaves.
  t.strictSame(await requestsFor(70_000, 69_999), ['0/273.p/112', '1/001.p/17', '2/000.p/1'])
  t.strictSame(await requestsFor(70_000, 0), ['0/000', '0/273.p/112', '1/000', '1/001.p/17'])
  t.strictSame(await requestsFor(256, 3), ['0/000'])
  t.strictSame(await requestsFor(1, 0), ['0/000.p/1'])
})

t.test('the work for a huge tree is bounded by its height', async (t) => {
  const requests = await requestsFor(2 ** 48 - 1, 2 ** 47 + 12_345)
  t.ok(requests.length <= 12, requests.join(' '))
})

t.test('proofs from tiles are those of RFC 6962', async (t) => {
  const leaves = Array.from({ length: 1_400 }, (_, n) => `leaf ${n}`)
  const { nodes, root } = leavesTree(leaves)
  await fc.assert(
    fc.asyncProperty(fc.nat(), fc.nat(), async (sizeSeed, indexSeed) => {
      const size = 1 + (sizeSeed % leaves.length)
      const index = indexSeed % size
      const tree = tiledTree({
        size,
        hashes,
        read: (level, { n, width }) =>
          Promise.all(
            Array.from({ length: width }, async (_, at) =>
              own(await nodes(8 * level, n * 256 + at)),
            ),
          ),
      })
      const [leaf, proof] = await Promise.all([tree.leafHash(index), tree.inclusionProof(index)])
      const expected = (await inclusionProof(nodes, index, size)).map(own)
      t.strictSame(proof, expected)
      return isIncluded(hashes, { leaf, index, size, proof, root: own(root(size)) })
    }),
    {
      numRuns: 25,
      examples: [
        [255, 255],
        [256, 256],
        [1_399, 0],
        [1_023, 512],
      ],
    },
  )
})
