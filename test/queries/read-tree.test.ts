import t from 'tap'
import { leafOf } from '../../src/transparency/leaf.ts'
import { leafHash, rootOf } from '../../src/transparency/merkle.ts'
import { foldLog, treesIn } from '../support/folded-trees.ts'
import { recorded } from '../support/recorded.ts'

t.test('the tree of a history without events has no leaves, and the root of none', async (t) => {
  const tree = await treesIn(new Map())('org-1')
  t.equal(tree.size, 0)
  t.strictSame(await tree.root(0), rootOf([]))
  t.strictSame(await tree.hashes(0, { from: 0, to: 0 }), [])
})

t.test('the tiles of a tree have the hashes of its leaves', async (t) => {
  const log = recorded(
    Array.from({ length: 21 }, (_, n) => ({
      stream: 'box-org-1_b-1',
      type: 'BoxOpened',
      data: { n },
    })),
  )
  const tree = await treesIn(await foldLog(log, [2]))('org-1')
  t.equal(tree.size, 21)
  const leaves = await tree.hashes(0, { from: 0, to: 21 })
  t.strictSame(
    leaves,
    log.map((event) => leafHash(leafOf(event))),
  )
  t.strictSame(await tree.hashes(0, { from: 15, to: 18 }), leaves.slice(15, 18))
  t.strictSame(await tree.root(21), rootOf(leaves))
  t.strictSame(await tree.root(17), rootOf(leaves.slice(0, 17)), 'also of an earlier size')
})
