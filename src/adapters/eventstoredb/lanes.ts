/** Runs at most `count` of the works it is given at once; the others wait in line. */
export const lanes = (count: number) => {
  let free = count
  const line: { enter(): void; refuse(error: Error): void }[] = []

  const run = async <T>(work: () => Promise<T>): Promise<T> => {
    if (free > 0) free--
    else await new Promise<void>((enter, refuse) => line.push({ enter, refuse }))
    try {
      return await work()
    } finally {
      const next = line.shift()
      if (next) next.enter()
      else free++
    }
  }

  /** Turns away all who wait in line. */
  const clear = (error: Error): void => {
    for (const { refuse } of line.splice(0)) refuse(error)
  }

  return { run, clear }
}

/** @throws `late()` when the work takes longer than `ms`. */
export const within = async <T>(ms: number, work: Promise<T>, late: () => Error): Promise<T> => {
  let timer: NodeJS.Timeout | undefined
  const tooLate = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(late()), ms)
  })
  try {
    return await Promise.race([work, tooLate])
  } finally {
    clearTimeout(timer)
  }
}
