import type { RootDatabase } from 'lmdb'
import type { Snapshots } from '../../ports/snapshots.ts'
import { guarded } from './guarded.ts'
import { keyEncoder } from './key-encoder.ts'
import { checksummed } from './record.ts'
import type { ViewsEnv } from './views-env.ts'

const name = 'snapshots'

/**
 * Snapshots, in the environment of the views: like them not fsynced, and dropped with them. Stream
 * names are far below the limit of a key. States are kept as JSON keeps them; a damaged one is as
 * if it were not there.
 */
export const embeddedSnapshots = (env: ViewsEnv): Snapshots => {
  const openedIn = (root: RootDatabase) => {
    const options = { name, encoder: checksummed, keyEncoder, cache: false }
    const db = root.openDB<string | undefined, string>(options)
    return { root, db, looked: guarded(db, name, env.guard) }
  }
  let opened = openedIn(env.root)
  const current = () => {
    if (opened.root !== env.root) opened = openedIn(env.root)
    return opened
  }
  /** A snapshot only saves reading: where there is no space it is left out. */
  const hasRoom = (bytes: number): boolean => {
    try {
      env.rooms.rebuilds(bytes)
      return true
    } catch {
      return false
    }
  }
  return {
    async get(stream) {
      if (env.renewing) return undefined
      const text = current().looked.get(stream)
      return text === undefined ? undefined : JSON.parse(text)
    },
    async put(stream, snapshot) {
      if (env.renewing) return
      const { db, looked } = current()
      const text = JSON.stringify(snapshot)
      if (!hasRoom(text.length)) return
      looked.check(stream)
      db.putSync(stream, text)
      env.guard.committed()
    },
  }
}
