/**
 * Options of an LRU cache of at most so many entries, whose memory grows with them. With `max` it
 * would allocate all of it at once, and delay the start of a process.
 */
export const atMost = (entries: number) => ({ maxSize: entries, sizeCalculation: () => 1 })
