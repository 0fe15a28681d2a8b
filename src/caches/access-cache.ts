import { LRUCache } from 'lru-cache'
import type { Observable } from 'rxjs'
import type { ApiKeyView } from '../../projections/api-keys.ts'
import type { DocumentChange } from '../ports/views.ts'
import type { Access } from '../security/access.ts'
import { atMost } from '../support/at-most.ts'
import { type Changed, ownTtlMs } from './changed.ts'

/**
 * An access until its key expires (wall time), when it was read (monotonic), and from which
 * documents (`view/id`).
 */
export type Known = {
  access: Access
  until: number
  readAt: number
  sources: readonly string[]
  /** The key that it was found by; undefined: none that is stored. */
  key?: ApiKeyView | undefined
}

const most = 20_000
/**
 * What another node's projecting may leave stale here: with the time between two looks at what
 * outlasts a request (src/security/watch-access.ts), less than 5 seconds.
 */
const sharedTtlMs = 3_000
const views: ReadonlySet<string> = new Set(['api_keys', 'console_sessions', 'members', 'users'])

/** What of a key changes whenever it is used, and gives or takes no right. */
const uses: ReadonlySet<string> = new Set(['last_used_at', 'request_count'])

/** Whether a document is this key after another use. */
const isUse = (key: ApiKeyView | undefined, { id, document }: DocumentChange): boolean => {
  if (!key || id !== key.key_id || !document) return false
  for (const name in document)
    if (!uses.has(name) && Reflect.get(key, name) !== document[name]) return false
  return true
}

type Options = {
  changes: Observable<readonly Changed[]>
  /** Another node may be the one that projects. */
  sharedViews: boolean
}

/** Accesses that were found, each until a document it was read from changes. */
export const accessCache = ({ changes, sharedViews }: Options) => {
  const ttlMs = sharedViews ? sharedTtlMs : ownTtlMs
  /** Cache keys by source. */
  const dependents = new Map<string, Set<string>>()
  let version = 0

  const forget = ({ sources }: Known, key: string): void => {
    for (const source of sources) {
      const keys = dependents.get(source)
      keys?.delete(key)
      if (keys?.size === 0) dependents.delete(source)
    }
  }

  const cache = new LRUCache<string, Known>({ ...atMost(most), dispose: forget })

  const changed = (view: string, change: DocumentChange): void => {
    version++
    for (const key of dependents.get(`${view}/${change.id}`) ?? []) {
      const known = cache.peek(key)
      if (known && !isUse(known.key, change)) cache.delete(key)
    }
  }

  const watching = changes.subscribe((batch) => {
    for (const { view, changes, anew } of batch) {
      if (!views.has(view)) continue
      if (anew) {
        version++
        cache.clear()
      }
      for (const change of changes) changed(view, change)
    }
  })

  return {
    /** `now`: a moment of the monotonic clock. */
    get(key: string, now: number): Known | undefined {
      const known = cache.get(key)
      return known && now - known.readAt < ttlMs ? known : undefined
    },
    /** What was found, however long ago. */
    outdated: (key: string): Known | undefined => cache.peek(key),
    /** Reads and keeps an access, unless it changed while it was being read. */
    async fill(key: string, read: () => Promise<Known>): Promise<Access> {
      const before = version
      const known = await read()
      if (version !== before) return known.access
      cache.set(key, known)
      for (const source of known.sources)
        dependents.set(source, (dependents.get(source) ?? new Set()).add(key))
      return known.access
    },
    close: () => watching.unsubscribe(),
  }
}
