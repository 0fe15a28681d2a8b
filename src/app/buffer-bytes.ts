import { getHeapStatistics } from 'node:v8'

/** The part of the heap that buffers of all clients may take together. */
const share = 1 / 64

/** Bytes of requests that wait, and of answers and feed items that are not read: 64 MB of 4 GB. */
export const bufferBytes = (heap = getHeapStatistics().heap_size_limit): number =>
  Math.floor(heap * share)
