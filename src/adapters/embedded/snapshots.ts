import type { Snapshot, Snapshots } from '../../ports/snapshots.ts'
import type { ViewsEnv } from './views-env.ts'

/**
 * Snapshots, in the environment of the views: like them not fsynced, and dropped with them. Stream
 * names are far below the limit of a key. States are kept as JSON keeps them.
 */
export const embeddedSnapshots = ({ root }: ViewsEnv): Snapshots => {
  const db = root.openDB<Snapshot, string>({ name: 'snapshots', encoding: 'json' })
  return {
    get: async (stream) => db.get(stream),
    put: async (stream, snapshot) => {
      db.putSync(stream, snapshot)
    },
  }
}
