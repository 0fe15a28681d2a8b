import type { Chunk } from './chunk.ts'

/** The first line of stored chunks names their owner, so that no two blobs are equal. */
export const headLine = (uploadId: string): string =>
  `${JSON.stringify({ upload_id: uploadId, version: 1 })}\n`

/** A chunk as it is stored. */
export const chunkLine = (chunk: Chunk): string => `${JSON.stringify(chunk)}\n`
