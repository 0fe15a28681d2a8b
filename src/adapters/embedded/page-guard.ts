import { closeSync, fstatSync, openSync, readSync } from 'node:fs'
import type { Key } from 'lmdb'
import { StoreDamaged } from '../../ports/event-store.ts'
import { type Encoded, encoded, ordered } from './key-encoder.ts'
import {
  childAt,
  countOf,
  emptyPage,
  faultOf,
  freeListFault,
  headerBytes,
  isLarge,
  keyAt,
  largeFaultOf,
  type Meta,
  metaIn,
  type Page,
  type Tree,
  treeIn,
  valueAt,
} from './page.ts'
import { holds, keyOf, type LostKeys, lostBelow, placeOf, rangeOf, type Step } from './page-path.ts'
import { pageTrust, type Trust } from './page-trust.ts'

/** Leaves with more large values than this are looked at again whenever one of their keys is read. */
const mostLarge = 16
/** With so many pages read, all are forgotten when the next turn of the event loop begins to read, and read into again. */
const keptPages = 2_048
/** What one turn of the event loop reads may need the pages that it has read: beyond so many, others are made. */
const mostPages = 2 * keptPages
/** Pages of the list of free pages that are looked at before a commit, which takes the oldest. */
const freePages = 4
/** Pages that are read at once where one is read behind another: a log is mostly in its order. */
const aheadPages = 16
/** How many pages may be between such two. */
const nearBy = 4
const firstBytes = 256
const usualPage = 4_096

type OnDamage = (error: StoreDamaged, lost?: LostKeys) => void

/**
 * Looks at the pages of a data file that lmdb is about to read, by reads of the file: lmdb trusts
 * what it finds, and ends the process or reads anything where a page is damaged.
 *
 * What was looked at is trusted for a while (`pageTrust`), so the caller tells of its own commits. Pages are kept as
 * long, to the next commit.
 */
export const pageGuard = (
  file: string,
  onDamage: OnDamage = () => undefined,
  now = () => performance.now(),
  newPage = emptyPage,
) => {
  const fd = openSync(file, 'r')
  const first = Buffer.alloc(firstBytes)
  readSync(fd, first, 0, firstBytes, 0)
  const pageSize = metaIn(first, 0)?.pageSize ?? usualPage
  const head = Buffer.alloc(2 * pageSize)
  const largeHead = Buffer.alloc(headerBytes)
  const spare: Page[] = []
  let known = new Map<number, Page>()
  /** How often pages were forgotten: what was on its way through them cannot go on. */
  let forgotten = 0
  const trees = new Map<string, Tree>()
  const trust = pageTrust(fd, now)
  /** Whether the trust was reviewed in this turn of the event loop. */
  let reviewed = false
  let ahead: Buffer | undefined
  /** What `ahead` holds, from a page on. */
  let aheadFirst = 0
  let aheadBytes = 0
  let lastRead = 0
  let meta: Meta | undefined
  let lastTransaction = 0
  let fileBytes = 0
  /** A commit is under way in another thread. */
  let held = false

  const fail = (what: string, lost?: LostKeys): never => {
    const error = new StoreDamaged(`${file}: ${what}`)
    onDamage(error, lost)
    throw error
  }

  /** Pages of a state of the file that may not be the current one any more. */
  const forgetPages = () => {
    forgotten++
    if (known.size > 0) {
      for (const page of known.values()) spare.push(page)
      // Not `clear`: V8 would keep the old generation's table with all of them.
      known = new Map()
    }
    trees.clear()
    aheadBytes = 0
    if (!held) meta = undefined
  }

  const forget = () => {
    held = false
    forgetPages()
    trust.end()
  }

  const committed = () => {
    held = false
    forgetPages()
    trust.committed()
  }

  /** Ends the trust where its time is over, or the file was written by anybody else. Nothing is on its way then. */
  const renew = () => {
    if (!trust.review() || known.size >= keptPages) forgetPages()
  }

  /** To be called before anything is trusted. */
  const review = () => {
    if (reviewed || held) return
    reviewed = true
    setImmediate(() => {
      reviewed = false
    })
    renew()
  }

  /** The state that lmdb uses: of the two that the file keeps, that of the last transaction. */
  const current = (): Meta => {
    if (meta) return meta
    const read = readSync(fd, head, 0, head.length, 0)
    const one = metaIn(head.subarray(0, pageSize), 0)
    const other = metaIn(head.subarray(pageSize), 1)
    if (read < head.length || !one || !other) return fail('its first pages are damaged')
    const latest = one.transaction > other.transaction ? one : other
    if (latest.pageSize !== pageSize || latest.transaction < lastTransaction)
      return fail('its first pages are damaged')
    lastTransaction = latest.transaction
    fileBytes = fstatSync(fd).size
    meta = latest
    return latest
  }

  /** How many bytes there were. */
  const readPage = ({ bytes }: Page, number: number): number => {
    const from = (number - aheadFirst) * pageSize
    const behind = number - lastRead
    lastRead = number
    if (ahead && from >= 0 && from + pageSize <= aheadBytes)
      return ahead.copy(bytes, 0, from, from + pageSize)
    if (behind < 1 || behind > nearBy) return readSync(fd, bytes, 0, pageSize, number * pageSize)
    ahead ??= Buffer.alloc(aheadPages * pageSize)
    aheadFirst = number
    aheadBytes = readSync(fd, ahead, 0, ahead.length, number * pageSize)
    return ahead.copy(bytes, 0, 0, Math.min(pageSize, aheadBytes))
  }

  const pageOf = (number: number, level: number, name: string, path: readonly Step[]): Page => {
    const seen = known.get(number)
    if (seen) return seen
    const { last } = current()
    if (known.size >= mostPages) known = new Map()
    const page = spare.pop() ?? newPage(pageSize)
    const read = readPage(page, number)
    const fault = read < pageSize ? 'it is missing' : faultOf(page, number, level, last)
    if (fault !== undefined)
      return fail(`page ${number} is damaged: ${fault}`, lostBelow(name, path))
    known.set(number, page)
    return page
  }

  /** From the root to the leaf of a key, or to the first or last leaf; empty in an empty tree. */
  const descend = (name: string, { root, depth }: Tree, key: Encoded | 'first' | 'last') => {
    const path: Step[] = []
    let exact = false
    let number = root
    for (let level = depth; number !== undefined && level > 0; level--) {
      const page = pageOf(number, level, name, path)
      let at = key === 'last' ? countOf(page) - 1 : 0
      if (typeof key !== 'string') {
        at = placeOf(page, key, level === 1 ? 0 : 1)
        exact = holds(page, at, key)
        if (level > 1 && !exact) at--
      }
      path.push({ page, at })
      number = level === 1 ? undefined : childAt(page, at)
    }
    return { path, exact }
  }

  /** The path to the leaf beside that of a path; empty at the end of the tree. */
  const beside = (name: string, path: readonly Step[], by: 1 | -1): Step[] => {
    for (let n = path.length - 2; n >= 0; n--) {
      const step = path[n]
      const at = (step?.at ?? 0) + by
      if (!step || at < 0 || at >= countOf(step.page)) continue
      const result = [...path.slice(0, n), { page: step.page, at }]
      for (let level = path.length - n - 1; level > 0; level--) {
        const above = result.at(-1)
        if (!above) break
        const page = pageOf(childAt(above.page, above.at), level, name, result)
        result.push({ page, at: by === 1 ? 0 : countOf(page) - 1 })
      }
      return result
    }
    return []
  }

  /** What is wrong with the first page of a large value. */
  const largeFault = ({ page, at }: Step): string | undefined => {
    const value = valueAt(page, at)
    if (value.page === undefined) return undefined
    const { page: number, size } = value
    const meta = current()
    const missing = number < 2 || number > meta.last || number * pageSize + size > fileBytes
    if (missing) return `page ${number} is missing`
    readSync(fd, largeHead, 0, headerBytes, number * pageSize)
    const fault = largeFaultOf(largeHead, value, meta)
    return fault && `page ${number} is damaged: ${fault}`
  }

  const checkLarge = (name: string, step: Step) => {
    if (!isLarge(step.page, step.at)) return
    const fault = largeFault(step)
    if (fault !== undefined) fail(fault, { name, from: keyOf(step), below: keyOf(step) })
  }

  /** Remembers what was looked at: a leaf, with its large values, and what is above it. */
  const remember = ({ keys }: Trust, path: readonly Step[]) => {
    const page = path.at(-1)?.page
    let large = 0
    for (let at = 0; page && at < countOf(page); at++)
      if (isLarge(page, at) && (++large > mostLarge || largeFault({ page, at }) !== undefined))
        return
    const { low, high } = rangeOf(path)
    keys.add(low, high)
  }

  /**
   * Looks at what a removal may read: a page that has become small is joined with one beside it,
   * and of branches the first key below is read.
   */
  const checkBeside = (name: string, path: readonly Step[]) => {
    beside(name, path, 1)
    beside(name, path, -1)
    for (let n = 1; n < path.length - 1; n++) {
      const { page: above, at } = path[n - 1] as Step
      for (let one = Math.max(0, at - 1); one <= at + 1 && one < countOf(above); one++) {
        const way = [...path.slice(0, n - 1), { page: above, at: one }]
        let number = childAt(above, one)
        for (let level = path.length - n; level > 0; level--) {
          const page = pageOf(number, level, name, way)
          way.push({ page, at: 0 })
          if (level > 1) number = childAt(page, 0)
        }
      }
    }
  }

  const treeOf = (name: string): Tree => {
    const seen = trees.get(name)
    if (seen) return seen
    const { path } = descend('', current().main, 'first')
    const page = path.at(-1)?.page
    for (let n = 0; page && n < countOf(page); n++) {
      const { from, to } = keyAt(page, n)
      if (page.bytes.toString('utf8', from, to).replace(/\0$/, '') !== name) continue
      const value = valueAt(page, n)
      if (value.from === undefined || value.size < 48) break
      const tree = treeIn(page.bytes, value.from)
      trees.set(name, tree)
      return tree
    }
    return fail(`the database ${name} is missing`)
  }

  /** Looks at the list of free pages, which every commit reads and writes. */
  const lookAtFree = (): void => {
    const { free, last } = current()
    let { path } = descend('', free, 'first')
    for (let pages = 0; path.length > 0 && pages < freePages; pages++) {
      const page = path.at(-1)?.page
      for (let n = 0; page && n < countOf(page); n++) {
        checkLarge('', { page, at: n })
        const { size, from } = valueAt(page, n)
        if (from === undefined) continue
        if (freeListFault(page, from, size, last)) fail('its list of free pages is damaged')
      }
      path = beside('', path, 1)
    }
    trust.freeSeen()
  }

  const checkRemoval = (name: string, key: Encoded, { removable }: Trust) => {
    if (removable.takes(key)) return
    const { path, exact } = descend(name, treeOf(name), key)
    const end = path.at(-1)
    if (!end) return
    if (exact) checkLarge(name, end)
    checkBeside(name, path)
    const { low, high } = rangeOf(path)
    // A leaf is joined when it has become small. With what it is joined then, it may be joined again.
    removable.replace(low, high, countOf(end.page) >> 1)
  }

  return {
    /** Looks at the beginning of the file, its list of databases and of free pages. */
    checkHead(): void {
      review()
      descend('', current().main, 'first')
      lookAtFree()
    },

    /** What a commit reads, whatever it writes. */
    checkFree(): void {
      review()
      if (!trust.takesFree()) lookAtFree()
    },

    /**
     * Looks at the leaf of a key, and at its value where that has pages of its own; for a removal
     * at the pages beside it too, with which lmdb may join it. 'last': at the last leaf, for a key
     * behind all others.
     */
    check(name: string, key: Key | 'last', options?: { removes: boolean }): void {
      review()
      const known = trust.of(name)
      if (key === 'last') {
        if (!known.end) descend(name, treeOf(name), key)
        known.end = true
        return
      }
      const sought = encoded(key)
      if (!known.keys.has(sought)) {
        const { path, exact } = descend(name, treeOf(name), sought)
        const end = path.at(-1)
        if (end && exact) checkLarge(name, end)
        remember(known, path)
      }
      if (options?.removes) checkRemoval(name, sought, known)
    },

    /** Looks at the leaves of a range of keys, without the values. */
    checkRange(name: string, start: Key, end: Key): void {
      review()
      let { path } = descend(name, treeOf(name), encoded(start))
      const bound = encoded(end)
      for (let last = path.at(-1); last; last = path.at(-1)) {
        const { from, to } = keyAt(last.page, countOf(last.page) - 1)
        if (ordered(last.page.bytes, from, to, bound) >= 0) return
        path = beside(name, path, 1)
      }
    },

    /**
     * Goes through the entries of a range as lmdb does, one page ahead of it: `next` is called
     * before each entry is read. Ranges are read in one turn, with no commit between: pages that were
     * forgotten are read into again. @throws Error where one is not
     */
    cursor(name: string, start: Key | undefined, { reverse = false, values = true }) {
      review()
      const begun = forgotten
      const open = reverse ? 'last' : 'first'
      const by = reverse ? -1 : 1
      const key = start === undefined ? open : encoded(start)
      let { path, exact } = descend(name, treeOf(name), key)
      const end = path.at(-1)
      // lmdb looks for the first key that is not below the start, which may be in the next leaf.
      if (end && end.at >= countOf(end.page)) beside(name, path, 1)
      let at = end ? end.at - (reverse && key !== 'last' && !exact ? 1 : 0) : 0
      return {
        /** Whether there was a key left. */
        next(): boolean {
          if (forgotten !== begun) throw new Error(`${file}: a range was read for too long`)
          let page = path.at(-1)?.page
          if (page && (at < 0 || at >= countOf(page))) {
            path = beside(name, path, by)
            page = path.at(-1)?.page
            at = path.at(-1)?.at ?? 0
          }
          if (!page) return false
          if (values) checkLarge(name, { page, at })
          at += by
          return true
        },
      }
    },

    /**
     * To be called before a commit in another thread: until its end, the first pages may be half
     * written, and are not read. Pages of the state before it are not written by it.
     */
    hold(): void {
      renew()
      current()
      held = true
    },

    /**
     * To be called right before a commit in this thread. What was written until then, lmdb has not
     * written.
     */
    committing: renew,

    /** To be called after a commit of this process, or one that failed. */
    committed,

    /** To be called when somebody else may have written: nothing is trusted any more. */
    forget,

    close: (): void => closeSync(fd),
  }
}

export type PageGuard = ReturnType<typeof pageGuard>
