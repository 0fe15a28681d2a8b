import type { Snapshot, Snapshots } from '../../ports/snapshots.ts'
import type { ViewsEnv } from './views-env.ts'

/**
 * Snapshots beside the views: like them not fsynced, and gone when they are. Streams' names are
 * far below the limit of a key. States are kept as JSON keeps them.
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
