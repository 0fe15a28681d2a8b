import t from 'tap'
import { rebuildOutdated } from '../../src/projector/outdated.ts'
import { projector } from '../../src/projector/projector.ts'
import { put, say } from '../support/box-history.ts'
import { opened } from '../support/opened.ts'
import { at } from '../support/positions.ts'
import { boxes, things } from '../support/toys.ts'

const patience = 10_000

t.test('read models of an earlier version are rebuilt once', async (t) => {
  const { store, views } = await opened(t)
  const before = projector({ store, views, projections: [boxes, things] })
  await before.start()
  await say(store, [put('b-1', 'cup')])
  t.ok(await before.waitForPosition(at(0), patience))
  await before.stop()

  const projections = [boxes, { ...things, version: 2 }]
  const now = projector({ store, views, projections })
  await now.start()
  const rebuilds: string[] = []
  const rebuild = rebuildOutdated({
    views,
    projections,
    projecting: { holds: () => true },
    rebuilding: { begin: (name) => rebuilds.push(name) },
  })
  await rebuild()
  t.strictSame(rebuilds, ['things'])
  await now.rebuild('things')
  await rebuild()
  t.strictSame(rebuilds, ['things'])
  await now.stop()
})

t.test('nothing is rebuilt where another process projects', async (t) => {
  const { views } = await opened(t)
  await views.view(things)
  const rebuilds: string[] = []
  await rebuildOutdated({
    views,
    projections: [{ ...things, version: 2 }],
    projecting: { holds: () => false },
    rebuilding: { begin: (name) => rebuilds.push(name) },
  })()
  t.strictSame(rebuilds, [])
})
