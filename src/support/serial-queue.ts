/** A queue of one: works run in the order they were handed in, each after the last has settled. */
export const serialQueue = () => {
  let last: Promise<unknown> = Promise.resolve()
  return <T>(work: () => Promise<T>): Promise<T> => {
    const next = last.then(work)
    last = next.catch(() => undefined)
    return next
  }
}

export type SerialQueue = ReturnType<typeof serialQueue>
