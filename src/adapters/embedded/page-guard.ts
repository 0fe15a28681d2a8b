import { closeSync, fstatSync, openSync, readSync } from 'node:fs'
import type { Key } from 'lmdb'
import { fromBufferKey } from 'ordered-binary'
import { StoreDamaged } from '../../ports/event-store.ts'
import { encoded } from './key-encoder.ts'
import { keyGap, ordered, orderedAt } from './key-gap.ts'
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

/** Pages that are kept while one turn of the event loop reads. */
const keptPages = 2_048
/** Pages of the list of free pages that are looked at before a commit, which takes the oldest. */
const freePages = 4
/** Pages that are read at once where one is read behind another: a log is mostly in its order. */
const aheadPages = 16
/** How many pages may be between such two. */
const nearBy = 4
const firstBytes = 256
const usualPage = 4_096

/** A page on the way to a leaf, and the node that is followed. */
type Step = { page: Page; at: number }

/** What a damaged page held: the keys of a database from one on, to before another. */
export type LostKeys = { name: string; from?: Key | undefined; below?: Key | undefined }
type OnDamage = (error: StoreDamaged, lost?: LostKeys) => void

const keyOf = ({ page, at }: Step): Key => {
  const { from, to } = keyAt(page, at)
  return fromBufferKey(page.bytes.subarray(from, to)) as Key
}

/** The keys below the last node of a path. */
const lostBelow = (name: string, path: readonly Step[]): LostKeys => {
  const from = path.findLast(({ at }) => at > 0)
  const below = path.findLast(({ page, at }) => at + 1 < countOf(page))
  return {
    name,
    from: from && keyOf(from),
    below: below && keyOf({ page: below.page, at: below.at + 1 }),
  }
}

/**
 * The place of the first key of a page that is not below a key. Allocates nothing, as what follows
 * it for every read and write.
 */
const placeOf = (page: Page, key: Buffer, first: number): number => {
  let low = first
  let high = countOf(page)
  while (low < high) {
    const middle = (low + high) >> 1
    if (orderedAt(page, middle, key) < 0) low = middle + 1
    else high = middle
  }
  return low
}

const holds = (page: Page, at: number, key: Buffer): boolean =>
  at < countOf(page) && orderedAt(page, at, key) === 0

/**
 * Looks at the pages of a data file that lmdb is about to read, by reads of the file: lmdb trusts
 * what it finds, and ends the process or reads anything where a page is damaged. What was looked at
 * is not looked at again in the same turn of the event loop, unless `forget` is called.
 */
export const pageGuard = (file: string, onDamage: OnDamage = () => undefined) => {
  const fd = openSync(file, 'r')
  const first = Buffer.alloc(firstBytes)
  readSync(fd, first, 0, firstBytes, 0)
  const pageSize = metaIn(first, 0)?.pageSize ?? usualPage
  const head = Buffer.alloc(2 * pageSize)
  const largeHead = Buffer.alloc(headerBytes)
  const spare: Page[] = []
  const known = new Map<number, Page>()
  const trees = new Map<string, Tree>()
  const gap = keyGap()
  let ahead: Buffer | undefined
  /** What `ahead` holds, from a page on. */
  let aheadFirst = 0
  let aheadBytes = 0
  let lastRead = 0
  let meta: Meta | undefined
  let lastTransaction = 0
  let fileBytes = 0
  let forgets = false
  /** A commit is under way in another thread. */
  let held = false

  const fail = (what: string, lost?: LostKeys): never => {
    const error = new StoreDamaged(`${file}: ${what}`)
    onDamage(error, lost)
    throw error
  }

  const forget = () => {
    for (const page of known.values()) spare.push(page)
    known.clear()
    trees.clear()
    gap.clear()
    aheadBytes = 0
    if (!held) meta = undefined
  }

  const forgetSoon = () => {
    if (forgets) return
    forgets = true
    setImmediate(() => {
      forgets = false
      forget()
    })
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
    forgetSoon()
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
    if (known.size >= keptPages) known.clear()
    const page = spare.pop() ?? emptyPage(pageSize)
    const read = readPage(page, number)
    const fault = read < pageSize ? 'it is missing' : faultOf(page, number, level, last)
    if (fault !== undefined)
      return fail(`page ${number} is damaged: ${fault}`, lostBelow(name, path))
    known.set(number, page)
    return page
  }

  /** From the root to the leaf of a key, or to the first or last leaf; empty in an empty tree. */
  const descend = (name: string, { root, depth }: Tree, key: Buffer | 'first' | 'last') => {
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

  /**
   * The leaf of a key where all pages on the way are known; undefined where one has to be read. The
   * gap is narrowed to the leaf.
   */
  const knownLeaf = ({ root, depth }: Tree, key: Buffer): Page | undefined => {
    let number = root
    gap.clear()
    for (let level = depth; number !== undefined; level--) {
      const page = known.get(number)
      if (!page || level <= 1) return page
      let at = placeOf(page, key, 1)
      if (!holds(page, at, key)) at--
      if (at > 0) gap.above(page, at)
      if (at + 1 < countOf(page)) gap.below(page, at + 1)
      number = childAt(page, at)
    }
    return undefined
  }

  /** Whether a leaf has a key; where it has none, the gap is where the key belongs. */
  const foundIn = (leaf: Page, at: number, key: Buffer, name: string): boolean => {
    if (holds(leaf, at, key)) return true
    if (at > 0) gap.above(leaf, at - 1)
    if (at < countOf(leaf)) gap.below(leaf, at)
    gap.close(name)
    return false
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

  const checkLarge = (name: string, step: Step) => {
    const value = valueAt(step.page, step.at)
    if (value.page === undefined) return
    const { page: number, size } = value
    const meta = current()
    const lost = () => ({ name, from: keyOf(step), below: keyOf(step) })
    const missing = number < 2 || number > meta.last || number * pageSize + size > fileBytes
    if (missing) return fail(`page ${number} is missing`, lost())
    readSync(fd, largeHead, 0, headerBytes, number * pageSize)
    const fault = largeFaultOf(largeHead, value, meta)
    if (fault !== undefined) fail(`page ${number} is damaged: ${fault}`, lost())
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
  const checkFree = (): void => {
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
  }

  return {
    /** Looks at the beginning of the file, its list of databases and of free pages. */
    checkHead(): void {
      descend('', current().main, 'first')
      checkFree()
    },

    /** What a commit reads, whatever it writes. */
    checkFree,

    /**
     * Looks at the leaf of a key, and at its value where that has pages of its own; for a removal
     * at the leaves beside it too, with which lmdb may merge it.
     */
    check(name: string, key: Key | 'last', { removes = false } = {}): void {
      const sought = key === 'last' ? key : encoded(key)
      if (sought !== 'last' && !removes && gap.has(name, sought)) return
      const tree = treeOf(name)
      const leaf = removes || sought === 'last' ? undefined : knownLeaf(tree, sought)
      if (leaf && sought !== 'last') {
        const at = placeOf(leaf, sought, 0)
        if (!foundIn(leaf, at, sought, name) || !isLarge(leaf, at)) return
      }
      const { path, exact } = descend(name, tree, sought)
      const end = path.at(-1)
      if (!end) return
      if (exact) checkLarge(name, end)
      if (!removes) return
      beside(name, path, 1)
      beside(name, path, -1)
    },

    /** Looks at the leaves of a range of keys, without the values. */
    checkRange(name: string, start: Key, end: Key): void {
      const bound = Buffer.from(encoded(end))
      let { path } = descend(name, treeOf(name), encoded(start))
      for (let last = path.at(-1); last; last = path.at(-1)) {
        const { from, to } = keyAt(last.page, countOf(last.page) - 1)
        if (ordered(last.page.bytes, from, to, bound) >= 0) return
        path = beside(name, path, 1)
      }
    },

    /**
     * Goes through the entries of a range as lmdb does, one page ahead of it: `next` is called
     * before each entry is read. Ranges are read in one turn.
     */
    cursor(name: string, start: Key | undefined, { reverse = false, values = true }) {
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
      current()
      held = true
    },

    /** To be called after a commit. */
    forget(): void {
      held = false
      forget()
    },

    close: (): void => closeSync(fd),
  }
}

export type PageGuard = ReturnType<typeof pageGuard>
