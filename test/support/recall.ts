import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { z } from 'zod'
import { embeddedBlobs } from '../../src/adapters/embedded/blobs.ts'
import { fileTypeOf } from '../../src/domain/file/types.ts'
import { datastoreIndex } from '../../src/rag/datastore-index.ts'
import { documentReader } from '../../src/rag/document-reader.ts'
import { chunkIn } from '../../src/rag/stored-chunks.ts'

const library = join('test', 'fixtures', 'library')
const questions = z.array(z.object({ question: z.string(), file: z.string(), says: z.string() }))

async function* once(bytes: Uint8Array) {
  yield bytes
}

/**
 * Reads the fixture library as uploads are read, asks its questions, and answers the share of them
 * for which a passage that says the answer is among the first `among`.
 */
export const recall = async (dir: string, among: number) => {
  const blobs = await embeddedBlobs(dir)
  const reader = documentReader()
  const index = datastoreIndex()
  const stored = new Map<string, string>()
  for (const filename of (await readdir(library)).toSorted()) {
    const fileType = fileTypeOf(filename)
    if (!fileType || fileType === 'application/json') continue
    const bytes = [await readFile(join(library, filename))]
    const read = await reader.read({ bytes, fileType, uploadId: filename })
    if ('failed' in read) throw new Error(`${filename}: ${read.failed}`)
    const lines = Buffer.concat(read.lines)
    const { name } = await blobs.put(once(lines))
    index.add(filename, lines)
    stored.set(filename, name)
  }
  const entries = questions.parse(
    JSON.parse(await readFile(join(library, 'questions.json'), 'utf8')),
  )
  const missed: string[] = []
  for (const { question, file, says } of entries) {
    const texts = await Promise.all(
      index.search(question, among).map(async ({ chunksBlob, start, end }) => {
        const line = await blobs.get(stored.get(chunksBlob) ?? '', { start, end })
        const { text } = chunkIn(Buffer.concat((await line?.toArray()) ?? []).toString())
        return { filename: chunksBlob, text: text.toLowerCase() }
      }),
    )
    const isHit = texts.some(
      ({ filename, text }) => filename === file && text.includes(says.toLowerCase()),
    )
    if (!isHit) missed.push(question)
  }
  return { share: 1 - missed.length / entries.length, missed, questions: entries.length }
}
