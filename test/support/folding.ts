import { setImmediate } from 'node:timers/promises'
import { embeddedViews } from '../../src/adapters/embedded/views.ts'
import { openViewsEnv } from '../../src/adapters/embedded/views-env.ts'
import { at } from './positions.ts'

/** A process that folds without end, to be killed. Says every position it has committed. */
export const foldingSpec = {
  name: 'tallies',
  indexes: { by_group: { equals: ['group'], orderBy: 'n' } },
}

const fold = async (path: string) => {
  const views = embeddedViews(await openViewsEnv({ path }))
  await views.view(foldingSpec)
  await views.view({ ...foldingSpec, name: 'others' })
  for (let n = (await views.checkpoint('tallies')) + 1; ; n++) {
    const changes = [
      { id: 'latest', document: { group: 'latest', n } },
      { id: `slot ${n % 300}`, document: { group: `group ${n % 7}`, n } },
      { id: `slot ${(n * 7) % 300}`, document: n % 3 ? undefined : { group: 'seven', n } },
    ]
    const commits = ['tallies', 'others'].map((view) => ({ view, changes, position: at(n) }))
    await views.commit(commits, 'live', n % 100 < 50)
    // Waits where the reader is slow: a full pipe refuses a synchronous write.
    await new Promise((resolve) => process.stdout.write(`${n}\n`, resolve))
    if (n % 10 === 0) await setImmediate()
  }
}

const [, , path] = process.argv
if (path) await fold(path)
