import type { Test } from 'tap'
import { projections } from '../../projections/all.ts'
import { laterViewsOf, viewsOf } from '../../src/app/read-models.ts'
import { projector } from '../../src/projector/projector.ts'
import { commanding } from './commanding.ts'

/** The commands of `commanding`, and read models that can be waited for. */
export const commanded = async (t: Test) => {
  const commands = await commanding(t)
  const { store, views } = commands
  const projecting = projector({ store, views, projections })
  await projecting.start()
  t.teardown(() => projecting.stop())
  return {
    ...commands,
    changes: projecting.changes,
    read: { ...(await viewsOf(views)), ...(await laterViewsOf(views)) },
    /** The errors that projections have stopped with. */
    stopped: () => projecting.state().flatMap(({ error }) => (error ? [error] : [])),
    /** Until the views show all there is. */
    seen: async () => {
      t.ok(await projecting.waitForPosition(await store.head(), 10_000), 'the views caught up')
    },
  }
}

export type Commanded = Awaited<ReturnType<typeof commanded>>
