import type { Chunk } from './chunk.ts'

/** Chunks as they are stored: the first line names their owner, so that no two blobs are equal. */
export const chunkLines = (uploadId: string, chunks: readonly Chunk[]): string =>
  [{ upload_id: uploadId, version: 1 }, ...chunks]
    .map((line) => `${JSON.stringify(line)}\n`)
    .join('')
