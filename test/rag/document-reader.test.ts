import t from 'tap'
import type { FileType } from '../../src/domain/file/types.ts'
import { documentReader } from '../../src/rag/document-reader.ts'
import { deepHtml, docxOf, hugeJson, pdfOf, zipBomb } from '../support/documents.ts'

const word = 'application/vnd.openxmlformats-officedocument.wordprocessingml.document'
const task = (bytes: Uint8Array, fileType: FileType) => ({
  bytes: new Uint8Array(bytes),
  fileType,
  uploadId: 'u-1',
})
const text = (words: string) => task(Buffer.from(words), 'text/plain')

t.test('a document becomes chunks, as they are stored', async (t) => {
  const reader = documentReader()
  t.teardown(() => reader.close())
  const read = await reader.read(task(docxOf(['# Terms', 'Tea at four']), word))
  if (!('lines' in read)) return t.fail(read.failed)
  t.equal(read.count, 1)
  t.match(Buffer.from(read.lines).toString(), /"upload_id":"u-1".*\n.*Tea at four/)
  t.strictSame(await reader.read(text('')), { failed: 'The file is empty' })
  t.strictSame(await reader.read(text(' \n ')), { failed: 'The document has no text' })
})

t.test('files made to do harm fail with a reason, and the process goes on', async (t) => {
  const reader = documentReader()
  t.teardown(() => reader.close())
  let turns = 0
  const counting = setInterval(() => turns++, 5)
  const outcomes = await Promise.all([
    reader.read(task(zipBomb(), word)),
    reader.read(task(pdfOf(['x']).subarray(0, 90), 'application/pdf')),
    reader.read(task(hugeJson(), 'application/json')),
    reader.read(task(deepHtml(), 'text/html')),
    reader.read(task(Buffer.from('word '.repeat(2_000_000)), 'text/plain')),
    reader.read(task(Buffer.from('>'.repeat(100_000)), 'text/markdown')),
  ])
  clearInterval(counting)
  t.match(outcomes, [
    { failed: /unpacks to more than 64 MB/ },
    { failed: /damaged/ },
    { failed: /up to 8 MB/ },
    { failed: /nested deeper/ },
    { failed: /more than 8000000 characters/ },
    { failed: String },
  ])
  t.ok(turns > 0, 'other work was done meanwhile')
})

t.test('one that takes too long or too much memory is ended', async (t) => {
  const slow = documentReader({ timeoutMs: 1 })
  t.match(await slow.read(text('Tea at four')), { failed: /cannot be read in 0\.001 seconds/ })
  const small = documentReader({ heapMb: 8 })
  const records = `${'{"name":"widget","price":12}\n'.repeat(250_000)}`
  const lines = task(Buffer.from(records), 'application/x-ndjson')
  t.match(await small.read(lines), { failed: /memory/ })
  const watched = documentReader({ growthMb: 0 })
  t.match(await watched.read(task(Buffer.from(records), 'application/x-ndjson')), {
    failed: /memory/,
  })
})

t.test('closing ends what is under way', async (t) => {
  const reader = documentReader()
  const reading = reader.read(text('Tea at four'))
  reader.close()
  await t.rejects(reading, { name: 'ReaderClosed' })
  t.throws(() => reader.read(text('Tea')), { name: 'ReaderClosed' })
})
