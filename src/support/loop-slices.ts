type Schedule = (work: () => void) => void

/**
 * Bounds the pieces of work that begin in one turn of the event loop. Further ones wait in line for
 * later turns, and other work comes in between. As long as none waits, a piece costs a count.
 */
export const loopSlices = (most: number, schedule: Schedule = setImmediate) => {
  const line: (() => void)[] = []
  let left = most
  let isDue = false

  const refill = (): void => {
    if (isDue) return
    isDue = true
    schedule(slice)
  }

  const spend = (): void => {
    left--
    if (left === 0) refill()
  }

  const slice = (): void => {
    isDue = false
    left = most
    while (left > 0) {
      const work = line.shift()
      if (!work) return
      spend()
      work()
    }
  }

  return {
    /** Whether a piece may begin at once: then it counts. Nobody overtakes the line. */
    take(): boolean {
      if (left === 0 || line.length > 0) return false
      spend()
      return true
    },
    /** Calls `work` in a later turn of the event loop, in the order of the line. */
    enqueue(work: () => void): void {
      line.push(work)
      refill()
    },
  }
}
