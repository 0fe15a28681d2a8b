import { Subject } from 'rxjs'
import type { OpenDiskSpace } from '../adapters/embedded/disk-space.ts'
import { embeddedSnapshots } from '../adapters/embedded/snapshots.ts'
import { embeddedViews } from '../adapters/embedded/views.ts'
import { openViewsEnv } from '../adapters/embedded/views-env.ts'
import type { Log } from '../ports/log.ts'

type Options = {
  /** Read models of an earlier release that are elsewhere now. */
  dropped?: readonly string[]
  space: Pick<OpenDiskSpace, 'room'>
}

/** Views and snapshots in a folder; they start empty when they cannot be trusted. */
export const embeddedReads = async (path: string, log: Log, options: Options) => {
  const { room } = options.space
  const rooms = { views: room('views', path), rebuilds: room('rebuilds', path) }
  const env = await openViewsEnv({ path, rooms, log })
  if (env.startedEmpty)
    log.warn({ path, reason: env.startedEmpty }, 'the views are folded again from the log')
  const views = embeddedViews(env, options)
  const renewed = new Subject<void>()
  views.onRenewed((err) => {
    log.error({ err, path }, 'the views are damaged and are folded again from the log')
    renewed.next()
  })
  return {
    views,
    renewed,
    damage: views.damage,
    snapshots: embeddedSnapshots(env),
    close: () => views.close(),
  }
}
