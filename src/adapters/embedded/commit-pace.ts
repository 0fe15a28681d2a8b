/** Disks that take longer than this to sync are not waited for, in milliseconds. */
const shortMs = 0.5
/** So often one is waited for all the same, so that a disk that has become fast is noticed. */
const lookEvery = 64
/** The weight of the latest commit in the average. */
const latest = 0.25

/**
 * Whether the event loop waits for a commit to be on disk. On a fast disk that costs less than
 * handing the commit to another thread and back (some 80 µs of CPU); on a slow one everything else
 * would stand still meanwhile. Told by how long the commits took that were waited for.
 */
export const commitPace = () => {
  let average = 0
  let handed = 0
  return {
    waits(): boolean {
      if (average <= shortMs) return true
      handed++
      return handed % lookEvery === 0
    },
    /** How long a commit took that was waited for, in milliseconds. */
    took(ms: number): void {
      average += (ms - average) * latest
    },
  }
}

export type CommitPace = ReturnType<typeof commitPace>
