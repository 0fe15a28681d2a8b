import { setImmediate } from 'node:timers/promises'
import { embeddedViews } from '../../src/adapters/embedded/views.ts'
import { openViewsEnv } from '../../src/adapters/embedded/views-env.ts'
import { at } from './positions.ts'

/**
 * A process that folds until it is killed or exits at a position, and prints each committed one.
 */
export const foldingSpec = {
  name: 'tallies',
  indexes: { by_group: { equals: ['group'], orderBy: 'n' } },
}

const fold = async (path: string, exitAt: number) => {
  const views = embeddedViews(await openViewsEnv({ path }))
  const both = [await views.view(foldingSpec), await views.view({ ...foldingSpec, name: 'others' })]
  for (let n = (await views.checkpoint('tallies')) + 1; ; n++) {
    const changes = [
      { id: 'latest', document: { group: 'latest', n } },
      { id: `slot ${n % 3_000}`, document: { group: `group ${n % 7}`, n } },
      { id: `slot ${(n * 7) % 3_000}`, document: n % 3 ? undefined : { group: 'seven', n } },
    ]
    const commits = ['tallies', 'others'].map((view) => ({ view, changes, position: at(n) }))
    await views.commit(commits, 'live', n % 100 < 50)
    // Waits where the reader is slow: a full pipe refuses a synchronous write.
    await new Promise((resolve) => process.stdout.write(`${n}\n`, resolve))
    // What waits is written for it, over turns of the event loop in which more is committed.
    if (n % 250 === 0)
      for (const view of both) void view.find({ index: 'by_group', equals: ['seven'], limit: 1 })
    if (n === exitAt) process.exit(7)
    if (n % 10 === 0) await setImmediate()
  }
}

const [, , path, exitAt] = process.argv
if (path) await fold(path, Number(exitAt))
