/**
 * Of an LRU cache of at most so many entries, whose memory grows with them: with `max` it would take all of it
 * at once, and a process that has just started would wait for that.
 */
export const atMost = (entries: number) => ({ maxSize: entries, sizeCalculation: () => 1 })
