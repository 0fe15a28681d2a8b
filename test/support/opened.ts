import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Test } from 'tap'
import { embeddedEventStore } from '../../src/adapters/embedded/event-store.ts'
import { openLog } from '../../src/adapters/embedded/log.ts'
import { embeddedViews } from '../../src/adapters/embedded/views.ts'
import { openViewsEnv } from '../../src/adapters/embedded/views-env.ts'

/** The embedded stores, new and empty, gone when they are closed or the test ends. */
export const opened = async (t: Test, { gap = 0 }: { gap?: number } = {}) => {
  const path = await mkdtemp(join(tmpdir(), 'reprise-'))
  const store = embeddedEventStore(await openLog({ path: join(path, 'log') }), { gap })
  const views = embeddedViews(await openViewsEnv({ path: join(path, 'views') }))
  const close = async () => {
    await views.close()
    await store.close()
    await rm(path, { recursive: true, force: true })
  }
  t.teardown(close)
  return { store, views, close }
}
