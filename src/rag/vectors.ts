import { z } from 'zod'

const head = z.object({ model: z.string(), dimensions: z.int().min(1), count: z.int().min(1) })

const newline = 0x0a

/** The vectors of a document's chunks, one after the other, a byte for each dimension. */
export type Vectors = { model: string; dimensions: number; bytes: Int8Array; lengths: Float32Array }

/** Stores a vector in a byte for each dimension: its direction is kept, its length is not. */
export const quantized = (vector: Float32Array): Int8Array => {
  let largest = 0
  for (const component of vector) largest = Math.max(largest, Math.abs(component))
  const scale = largest > 0 ? 127 / largest : 0
  return Int8Array.from(vector, (component) => Math.round(component * scale))
}

/** Vectors as they are stored: the first line names their owner, so that no two blobs are equal. */
export const vectorBlob = (
  uploadId: string,
  model: string,
  vectors: readonly Int8Array[],
): Buffer => {
  const dimensions = vectors[0]?.length ?? 0
  const line = { upload_id: uploadId, version: 1, model, dimensions, count: vectors.length }
  const parts = vectors.map(({ buffer, byteOffset, byteLength }) =>
    Buffer.from(buffer, byteOffset, byteLength),
  )
  return Buffer.concat([Buffer.from(`${JSON.stringify(line)}\n`), ...parts])
}

const headIn = (line: string) => {
  try {
    return head.parse(JSON.parse(line))
  } catch {
    return undefined
  }
}

/** Undefined when the bytes are not whole vectors. */
export const vectorsIn = (blob: Buffer): Vectors | undefined => {
  const end = blob.indexOf(newline)
  const head = headIn(blob.toString('utf8', 0, Math.max(0, end)))
  if (!head) return undefined
  const { model, dimensions, count } = head
  const bytes = new Int8Array(blob.buffer, blob.byteOffset + end + 1, blob.length - end - 1)
  if (bytes.length !== dimensions * count) return undefined
  const lengths = new Float32Array(count)
  for (let n = 0; n < count; n++) {
    let sum = 0
    for (let at = n * dimensions; at < (n + 1) * dimensions; at++) sum += (bytes[at] ?? 0) ** 2
    lengths[n] = Math.sqrt(sum)
  }
  return { model, dimensions, bytes, lengths }
}

/** The cosine of the angle between a vector of length 1 and the `n`-th of these. */
export const likeness = (
  { dimensions, bytes, lengths }: Vectors,
  n: number,
  to: Float32Array,
): number => {
  const length = lengths[n] ?? 0
  if (length === 0) return 0
  const start = n * dimensions
  let sum = 0
  for (let i = 0; i < dimensions; i++) sum += (bytes[start + i] ?? 0) * (to[i] ?? 0)
  return sum / length
}

/** The vector of length 1 that points the same way. */
export const unit = (vector: Float32Array): Float32Array => {
  let sum = 0
  for (const component of vector) sum += component * component
  const length = Math.sqrt(sum) || 1
  return vector.map((component) => component / length)
}
