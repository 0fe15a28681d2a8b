import t from 'tap'
import type { FileType } from '../../src/domain/file/types.ts'
import { documentReader } from '../../src/rag/document-reader.ts'
import { deepHtml, docxOf, hugeJson, pdfOf, zipBomb } from '../support/documents.ts'
import { eventually } from '../support/eventually.ts'

const word = 'application/vnd.openxmlformats-officedocument.wordprocessingml.document'
const task = (bytes: Uint8Array, fileType: FileType) => ({
  bytes: [bytes],
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
  t.match(Buffer.concat(read.lines).toString(), /"upload_id":"u-1".*\n.*Tea at four/)
  t.strictSame(await reader.read(text('')), { failed: 'The file is empty' })
  t.strictSame(await reader.read(text(' \n ')), { failed: 'The document has no text' })
})

/** Long enough that a busy machine ends no file for the time that it takes. */
const patientMs = 300_000

t.test('files made to do harm fail with a reason, and the process goes on', async (t) => {
  const reader = documentReader({ timeoutMs: patientMs })
  t.teardown(() => reader.close())
  let turns = 0
  const counting = setInterval(() => turns++, 5)
  const outcomes = await Promise.all([
    reader.read(task(zipBomb(), word)),
    reader.read(task(pdfOf(['x']).subarray(0, 90), 'application/pdf')),
    reader.read(task(hugeJson(), 'application/json')),
    reader.read(task(deepHtml(), 'text/html')),
    reader.read(task(Buffer.from('word '.repeat(4_000_000)), 'text/plain')),
    reader.read(task(Buffer.from('>'.repeat(100_000)), 'text/markdown')),
  ])
  clearInterval(counting)
  t.match(outcomes, [
    { failed: /unpacks to more than 64 MB/ },
    { failed: /damaged/ },
    { failed: /up to 8 MB/ },
    { failed: /nested deeper/ },
    { failed: /more than 16 MB of text/ },
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
  const watched = documentReader({ processMb: 0 })
  t.match(await watched.read(task(Buffer.from(records), 'application/x-ndjson')), {
    failed: /memory/,
  })
})

t.test('a document is taken a part at a time, as its process reads it', async (t) => {
  let partCount = 0
  let left = false
  async function* endless() {
    try {
      for (; ; partCount++) yield Buffer.alloc(65_536, 'x')
    } finally {
      left = true
    }
  }
  const reader = documentReader({ processMb: 200, timeoutMs: patientMs })
  t.teardown(() => reader.close())
  const document = { bytes: endless(), fileType: 'text/plain', uploadId: 'u-1' } as const
  t.match(await reader.read(document), { failed: /memory/ })
  t.ok(partCount < 100_000, `${partCount} parts were taken of what never ends`)
  await eventually(async () => left)
})

t.test('an error of the source rejects the read and ends its process', async (t) => {
  async function* broken() {
    yield Buffer.from('Tea ')
    throw new Error('the seal is broken')
  }
  const reader = documentReader({ threads: 1 })
  t.teardown(() => reader.close())
  const document = { bytes: broken(), fileType: 'text/plain', uploadId: 'u-1' } as const
  await t.rejects(reader.read(document), { message: 'the seal is broken' })
  t.match(await reader.read(text('Tea at four')), { count: 1 })
})

t.test('closing ends what is under way', async (t) => {
  const reader = documentReader()
  const reading = reader.read(text('Tea at four'))
  const closed = reader.close()
  await t.rejects(reading, { name: 'ReaderClosed' })
  await t.rejects(reader.read(text('Tea')), { name: 'ReaderClosed' })
  await closed
})

const markdown = 'text/markdown'

t.test('long headings are not repeated at length in every passage', async (t) => {
  const reader = documentReader({ timeoutMs: patientMs })
  t.teardown(() => reader.close())
  const heading = 'Heading '.repeat(170)
  const levels = Array.from({ length: 6 }, (_, n) => `${'#'.repeat(n + 1)} ${heading}`).join('\n\n')
  const paragraphs = `${'A sentence of the text. '.repeat(50)}\n\n`.repeat(1_000)
  const bytes = Buffer.from(`${levels}\n\n${paragraphs}`)
  const read = await reader.read(task(bytes, markdown))
  if (!('lines' in read)) return t.fail(read.failed)
  const lines = Buffer.concat(read.lines)
  t.ok(lines.length < 2.5 * bytes.length, `${lines.length} of ${bytes.length}`)
  const line = lines.toString().split('\n').at(-2)
  const { headings } = JSON.parse(line ?? '{}')
  t.ok(headings.every(({ length }: string) => length <= 200))
  t.equal(headings.length, 5, 'the nearest')
})

t.test('stored and indexed text is bounded for every file', async (t) => {
  const reader = documentReader({ timeoutMs: patientMs })
  t.teardown(() => reader.close())
  const heads = Array.from({ length: 6 }, (_, n) => `${'#'.repeat(n + 1)} ${'H'.repeat(200)}`)
  const bomb = `${heads.join('\n\n')}\n\n${`${'x'.repeat(1_300)}\n\n`.repeat(9_000)}`
  t.match(await reader.read(task(Buffer.from(bomb), markdown)), {
    failed: /more than 16 MB of text, its headings/,
  })
  const many = Buffer.from('{"a":1}\n'.repeat(20_001))
  t.match(await reader.read(task(many, 'application/x-ndjson')), {
    failed: /more than 20000 passages/,
  })
})

t.test('one that fills the heap at once ends its own process, and no other', async (t) => {
  const reader = documentReader()
  t.teardown(() => reader.close())
  const records = Buffer.from(`[${'{},'.repeat(2_700_000)}{}]`)
  t.match(await reader.read(task(records, 'application/json')), { failed: /memory|seconds/ })
  t.match(await reader.read(task(Buffer.from('<p>'.repeat(3_400_000)), 'text/html')), {
    failed: 'The document has no text',
  })
  t.match(await reader.read(text('Tea at four')), { count: 1 })
})
