import { fstatSync } from 'node:fs'
import { type KeyRanges, keyRanges } from './key-ranges.ts'

/**
 * So long what was looked at is trusted, in milliseconds: what was read so lately, the system still
 * has in memory, and lmdb reads it from there.
 */
const trustedMs = 10_000
/** So many commits take free pages from a list that was looked at once. */
const trustedCommits = 32

/** What is trusted of a tree. */
export type Trust = {
  /** Of these keys, the leaf, the branches above it and the large values were looked at. */
  keys: KeyRanges
  /** Of these, the pages beside them too. */
  removable: KeyRanges
  /** The last leaf was looked at. */
  end: boolean
}

/**
 * What was looked at in a file that lmdb writes, by the keys of its trees. It stays true over
 * commits: lmdb makes new pages in memory, from pages that were looked at. It ends after some
 * seconds, and where the file was written by anybody else.
 */
export const pageTrust = (fd: number, now: () => number) => {
  const trees = new Map<string, Trust>()
  let until = 0
  let commits = 0
  /** When the file was written last, as far as this process knows. */
  let written = 0

  const end = () => {
    trees.clear()
    commits = 0
  }

  return {
    of(name: string): Trust {
      const known = trees.get(name)
      if (known) return known
      const trust = { keys: keyRanges(), removable: keyRanges(), end: false }
      trees.set(name, trust)
      return trust
    },

    /** Whether it lasts: it ends where its time is over, or the file is not as this process left it. */
    review(): boolean {
      const { mtimeMs } = fstatSync(fd)
      if (mtimeMs === written && now() < until) return true
      end()
      written = mtimeMs
      until = now() + trustedMs
      return false
    },

    /** Whether the list of free pages is trusted for one more commit. */
    takesFree: (): boolean => commits-- > 0,

    freeSeen(): void {
      commits = trustedCommits
    },

    /** What the file is now, this process has written. */
    committed(): void {
      written = fstatSync(fd).mtimeMs
    },

    end,
  }
}
