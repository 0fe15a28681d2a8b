import type { RootDatabase } from 'lmdb'
import { StoreDamaged } from '../../ports/event-store.ts'
import type { Snapshots } from '../../ports/snapshots.ts'
import { keyEncoder } from './key-encoder.ts'
import { explained } from './lmdb-errors.ts'
import { checksummed } from './record.ts'
import type { ViewsEnv } from './views-env.ts'

/**
 * Snapshots, in the environment of the views: like them not fsynced, and dropped with them. Stream
 * names are far below the limit of a key. States are kept as JSON keeps them; a damaged one is as
 * if it were not there.
 */
export const embeddedSnapshots = (env: ViewsEnv): Snapshots => {
  const openedIn = (root: RootDatabase) => {
    const options = { name: 'snapshots', encoder: checksummed, keyEncoder, cache: false }
    return { root, db: root.openDB<string | undefined, string>(options) }
  }
  let opened = openedIn(env.root)
  const current = () => {
    if (opened.root !== env.root) opened = openedIn(env.root)
    return opened.db
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
  /** The views repair damage: until then there are no snapshots. */
  const attempt = <T>(work: () => T): T | undefined => {
    if (env.renewing) return undefined
    try {
      return work()
    } catch (error) {
      const cause = explained(error, 'the snapshots')
      if (!(cause instanceof StoreDamaged)) throw cause
      env.damaged(cause)
      return undefined
    }
  }
  return {
    async get(stream) {
      const text = attempt(() => current().get(stream))
      return text === undefined ? undefined : JSON.parse(text)
    },
    async put(stream, snapshot) {
      const text = JSON.stringify(snapshot)
      if (hasRoom(text.length)) attempt(() => current().putSync(stream, text))
    },
  }
}
