/**
 * Runs works one at a time, in the order they were added, each after the one before has settled.
 */
export const serialQueue = () => {
  let last: Promise<unknown> = Promise.resolve()
  return <T>(work: () => Promise<T>): Promise<T> => {
    const next = last.then(work)
    last = next.catch(() => undefined)
    return next
  }
}

export type SerialQueue = ReturnType<typeof serialQueue>
