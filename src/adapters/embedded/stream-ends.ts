import { START } from '../../ports/event-store.ts'
import { idFirst } from './index-key.ts'
import type { LogReader } from './reader.ts'

/** How many streams' revisions are kept at least, and at most twice as many. */
const known = 10_000
/** Such names sort as strings as they do as keys. */
const plain = /^[ -~]+$/

/**
 * The last revision of each stream, kept for the streams last written or read. Of one stretch of
 * names it is known that no stream there exists: the names behind the newest stream, as ids begin
 * with their time. So a new stream is not looked up.
 */
export const streamEnds = ({ revision, nextTo }: Pick<LogReader, 'revision' | 'nextTo'>) => {
  let young = new Map<string, number>()
  let old = new Map<string, number>()
  let free: { after: string; before: string | undefined } | undefined

  const isFree = (name: string): boolean =>
    free !== undefined &&
    name > free.after &&
    (free.before === undefined || name < free.before) &&
    plain.test(name)

  const look = (stream: string, name: string): number => {
    const last = revision(stream)
    if (last === START && plain.test(name) && !(free && name < free.after)) free = nextTo(stream)
    return last
  }

  const set = (stream: string, end: number): void => {
    young.set(stream, end)
    if (young.size < known) return
    old = young
    young = new Map()
  }

  return {
    has: (stream: string): boolean => young.has(stream) || old.has(stream),

    /** The last revision of a stream, START where there is none. */
    of(stream: string): number {
      const name = idFirst(stream)
      if (isFree(name)) return START
      const end = young.get(stream) ?? old.get(stream)
      if (end !== undefined) return end
      const last = look(stream, name)
      set(stream, last)
      return last
    },

    set,

    /** As `set`, of a stream that may have been written just now for the first time. */
    written(stream: string, end: number): void {
      const name = idFirst(stream)
      if (free && isFree(name)) free.after = name
      set(stream, end)
    },

    clear(): void {
      young.clear()
      old.clear()
      free = undefined
    },
  }
}
