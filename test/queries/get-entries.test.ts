import t from 'tap'
import { getEntries } from '../../queries/get-entries.ts'
import { leafOf } from '../../src/transparency/leaf.ts'
import { foldLog, treesIn } from '../support/folded-trees.ts'
import { recorded } from '../support/recorded.ts'

const log = recorded(
  Array.from({ length: 5 }, (_, n) => ({
    stream: 'box-org-1_b-1',
    type: 'BoxOpened',
    data: { n },
  })),
)

const entries = async () =>
  getEntries({
    readTree: treesIn(await foldLog(log, [2])),
    async *readEvents(_, from, to) {
      yield log.slice(from, to)
    },
  })

t.test('the entries of a tile are its leaves, each behind its length', async (t) => {
  const bytes = await (await entries())('org-1', { n: 0, width: 5 })
  const leaves: string[] = []
  for (let at = 0; at < bytes.length; ) {
    const end = at + 2 + bytes.readUInt16BE(at)
    leaves.push(bytes.toString('utf8', at + 2, end))
    at = end
  }
  t.strictSame(leaves, log.map(leafOf))
})

t.test('a tile that ends behind the last leaf is refused', async (t) => {
  const get = await entries()
  await t.rejects(get('org-1', { n: 0, width: 6 }), { code: 'tile_not_found' })
  await t.rejects(get('org-1', { n: 1, width: 1 }), { code: 'tile_not_found' })
})
