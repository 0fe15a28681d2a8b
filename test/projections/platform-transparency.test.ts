import t from 'tap'
import { platformTransparency } from '../../projections/platform-transparency.ts'
import { lineOf } from '../../src/transparency/leaf.ts'
import { foldLog, treesIn } from '../support/folded-trees.ts'
import { metadata, recorded } from '../support/recorded.ts'
import { rootOfLeaves } from '../support/tree-verifier.ts'

t.test('the platform has a tree of its own events, and organizations have none here', async (t) => {
  const events = recorded(
    Array.from({ length: 900 }, (_, n) => ({
      stream: `account-user-${n % 7}`,
      type: 'CreditsGranted',
      data: { grantId: `${n}`, amount: n, reason: 'gift' },
      metadata: { ...metadata, organization_id: n % 3 === 0 ? 'org-1' : 'platform' },
    })),
  )
  const own = events.filter(({ metadata }) => metadata.organization_id === 'platform')
  const documents = await foldLog(events, [9, 400], platformTransparency)
  const tree = await treesIn(documents)('platform')
  t.equal(tree.size, own.length)
  for (const size of [0, 1, 255, 256, 257, own.length])
    t.strictSame(await tree.root(size), rootOfLeaves(own.slice(0, size).map(lineOf)))
  t.notOk([...documents.keys()].some((id) => id.startsWith('org-1')))
})
