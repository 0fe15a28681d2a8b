import { join } from 'node:path'
import t from 'tap'
import { embeddedViews } from '../../src/adapters/embedded/views.ts'
import { openViewsEnv } from '../../src/adapters/embedded/views-env.ts'
import { viewsContract } from '../contracts/views.ts'

t.test('embedded views', async (t) => {
  const dir = t.testdir()
  let places = 0
  viewsContract(t, async () => {
    const path = join(dir, `${places++}`)
    return { open: async () => embeddedViews(await openViewsEnv({ path })) }
  })
})
