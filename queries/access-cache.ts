import { LRUCache } from 'lru-cache'
import type { Observable } from 'rxjs'
import type { ApiKeyView } from '../projections/api-keys.ts'
import type { DocumentChange } from '../src/ports/views.ts'
import type { Access } from '../src/security/access.ts'

/** An access until its key expires, when it was read, and from which documents (`view/id`). */
export type Known = {
  access: Access
  until: number
  readAt: number
  sources: readonly string[]
  key: ApiKeyView
}

const most = 20_000
/**
 * What another node's projecting may leave stale here: with the time between two looks at what
 * outlasts a request (src/security/watch-access.ts), less than 5 seconds.
 */
const ttlMs = 3_000
const views: ReadonlySet<string> = new Set(['api_keys', 'members', 'users'])

/** What of a key changes whenever it is used, and gives or takes no right. */
const uses: ReadonlySet<string> = new Set(['last_used_at', 'request_count'])

/** Whether a document is this key after another use. */
const isUse = (key: ApiKeyView, { id, document }: DocumentChange): boolean =>
  id === key.key_id &&
  document !== undefined &&
  Object.entries(document).every(
    ([name, value]) => uses.has(name) || Reflect.get(key, name) === value,
  )

/** Accesses that were found, each until a document it was read from changes. */
export const accessCache = (changes: Observable<DocumentChange & { view: string }>) => {
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

  const kept = new LRUCache<string, Known>({ max: most, dispose: forget })

  const watching = changes.subscribe(({ view, ...change }) => {
    if (!views.has(view)) return
    version++
    for (const key of dependents.get(`${view}/${change.id}`) ?? []) {
      const known = kept.peek(key)
      if (known && !isUse(known.key, change)) kept.delete(key)
    }
  })

  return {
    get(key: string, now: number): Known | undefined {
      const known = kept.get(key)
      return known && now - known.readAt < ttlMs ? known : undefined
    },
    /** What was found, however long ago. */
    outdated: (key: string): Known | undefined => kept.peek(key),
    /** Reads and keeps; what changed while it was being read is not kept. */
    async fill(key: string, read: () => Promise<Known>): Promise<Access> {
      const before = version
      const known = await read()
      if (version !== before) return known.access
      kept.set(key, known)
      for (const source of known.sources)
        dependents.set(source, (dependents.get(source) ?? new Set()).add(key))
      return known.access
    },
    close: () => watching.unsubscribe(),
  }
}
