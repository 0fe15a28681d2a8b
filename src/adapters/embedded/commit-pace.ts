/** Disks that take longer than this to sync are not waited for, in milliseconds. */
const shortMs = 0.5
/** A commit of so many bytes takes twice the processor time of a small one. */
const doubling = 32_768
/** So many of the last commits that were waited for have to be short. */
const enough = 2
const remembered = 8
/** So often one is waited for all the same, so that a disk that has become fast is noticed. */
const lookEvery = 64

/**
 * Whether the event loop waits for a commit to be on disk. On a fast disk that costs less than
 * handing the commit to another thread and back (80 to 300 µs of CPU); a slow disk would stop the
 * loop. The shortest of the last commits decides: others may only have waited for the processor.
 */
export const commitPace = () => {
  let short: readonly boolean[] = new Array(remembered).fill(true)
  let handed = 0
  const isFast = () => short.filter(Boolean).length >= enough
  return {
    waits(): boolean {
      if (isFast()) return true
      handed++
      return handed % lookEvery === 0
    },
    /** How long a commit of so many bytes took that was waited for, in milliseconds. */
    took(ms: number, bytes: number): void {
      short = [...short.slice(1), ms / (1 + bytes / doubling) <= shortMs]
    },
  }
}

export type CommitPace = ReturnType<typeof commitPace>
