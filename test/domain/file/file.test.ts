import t from 'tap'
import type { FileEvent } from '../../../src/domain/file/events.ts'
import {
  decideComplete,
  decideDelete,
  decideEmbed,
  decideErase,
  decideFail,
  decideIndex,
  decideReceive,
  decideRemoveAll,
  decideReplaceChunks,
  decideRequeue,
  decideReread,
  decideRetry,
  decideStart,
  file,
  hasVectors,
  isRereading,
} from '../../../src/domain/file/file.ts'
import { baseName, fileTypeOf } from '../../../src/domain/file/types.ts'
import { deciding } from '../../support/given.ts'

const identity = (uploadId: string) => ({ uploadId, datastoreId: 'd-1' })
const one = identity('u-1')
const two = identity('u-2')
const details = { filename: 'a.md', fileSize: 1, fileType: 'text/markdown', blob: 'b' } as const
const received = (of: typeof one): FileEvent => ({
  type: 'UploadReceived',
  data: { ...of, ...details },
})
const made = { chunks: 2, chunksBlob: 'c' }
const indexing = (of: typeof one): FileEvent => ({
  type: 'UploadIndexingStarted',
  data: { ...of, ...made },
})
const completed = (of: typeof one): FileEvent => ({ type: 'UploadCompleted', data: of })
const failed: FileEvent = { type: 'UploadFailed', data: { ...one, reason: 'Empty' } }
const removed = (
  of: typeof one,
  reason: 'deleted' | 'replaced' | 'datastore_deleted',
  completed: boolean,
): FileEvent => ({ type: 'UploadRemoved', data: { ...of, reason, completed } })
const requeued: FileEvent = { type: 'UploadRequeued', data: one }
const started: FileEvent = { type: 'UploadProcessingStarted', data: one }

t.test('from received to completed', async (t) => {
  const given = deciding(t, file)
  given()
    .when(decideReceive({ ...one, ...details }))
    .emitsOnce(received(one))
  given(received(one))
    .when(decideIndex({ ...one, ...made }))
    .emitsOnce(indexing(one))
  given(received(one), indexing(one)).when(decideComplete(one)).emitsOnce(completed(one))
  given(received(one)).when(decideComplete(one)).changesNothing()
  given(received(one)).when(decideStart(one)).changesNothing()
})

t.test('after a crash it waits, and is taken up again', async (t) => {
  const given = deciding(t, file)
  given(received(one)).when(decideRequeue(one)).emitsOnce(requeued)
  given(received(one), indexing(one)).when(decideRequeue(one)).emitsOnce(requeued)
  given(received(one), requeued).when(decideStart(one)).emitsOnce(started)
  given(received(one), requeued)
    .when(decideIndex({ ...one, ...made }))
    .changesNothing()
  given(received(one), failed).when(decideRequeue(one)).changesNothing()
})

t.test('it fails once, and not when it is over', async (t) => {
  const given = deciding(t, file)
  const fail = decideFail({ ...one, reason: 'Empty' })
  given(received(one)).when(fail).emitsOnce(failed)
  given(received(one), indexing(one), completed(one)).when(fail).changesNothing()
  given().when(fail).changesNothing()
})

t.test('what has failed fails again or waits again for a later reader only', async (t) => {
  const given = deciding(t, file)
  const again: FileEvent = { type: 'UploadFailed', data: { ...one, reason: 'Empty', reader: 2 } }
  const fail = decideFail({ ...one, reason: 'Empty', reader: 2 })
  given(received(one), failed).when(fail).emitsOnce(again)
  given(received(one), failed).when(decideRetry(one)).emitsOnce(requeued)
  given(received(one), indexing(one), completed(one)).when(decideRetry(one)).changesNothing()
  given().when(decideRetry(one)).changesNothing()
})

t.test('the latest upload that completes is the file', async (t) => {
  const given = deciding(t, file)
  given(received(one), indexing(one), completed(one), received(two), indexing(two))
    .when(decideComplete(two))
    .emitsOnce(completed(two), removed(one, 'replaced', true))
  given(received(one), failed, received(two), indexing(two))
    .when(decideComplete(two))
    .emitsOnce(completed(two), removed(one, 'replaced', false))
  given(received(one), received(two), indexing(two), indexing(one), completed(two))
    .when(decideComplete(one))
    .emitsOnce(completed(one), removed(one, 'replaced', true))
  given(received(one), received(two), indexing(two))
    .when(decideComplete(two))
    .emitsOnce(completed(two))
})

t.test('what can be searched is embedded, the same once', async (t) => {
  const given = deciding(t, file)
  const vectors = { ...one, model: 'openai/small', dimensions: 3, vectorsBlob: 'v' }
  const embedded: FileEvent = { type: 'UploadEmbedded', data: vectors }
  const embed = decideEmbed(vectors)
  given(received(one), indexing(one)).when(embed).changesNothing()
  given(received(one), indexing(one), completed(one)).when(embed).emitsOnce(embedded)
  const again: FileEvent = { type: 'UploadEmbedded', data: { ...vectors, vectorsBlob: 'w' } }
  given(received(one), indexing(one), completed(one), again).when(embed).emitsOnce(embedded)
  given(received(one), removed(one, 'deleted', true))
    .when(embed)
    .changesNothing()
  const { uploads } = file.evolve.UploadEmbedded({ uploads: {} }, vectors)
  t.ok(hasVectors({ uploads }, 'u-1', 'v'))
  t.notOk(hasVectors({ uploads }, 'u-1', 'w'))
  t.notOk(hasVectors({ uploads }, 'u-2', 'v'))
})

t.test('what can be searched is read again, each time once', async (t) => {
  const given = deciding(t, file)
  const chunks = { ...one, reader: 2, chunks: 3, chunksBlob: 'd' }
  const announced: FileEvent = { type: 'UploadRereadingStarted', data: chunks }
  const replaced: FileEvent = {
    type: 'UploadReread',
    data: { ...one, reader: 2, chunksBlob: 'd' },
  }
  const unchanged: FileEvent = { type: 'UploadReread', data: { ...one, reader: 2 } }
  const searched = [received(one), indexing(one), completed(one)] as const
  given(received(one), indexing(one)).when(decideReread(chunks)).changesNothing()
  given(...searched)
    .when(decideReread(chunks))
    .emitsOnce(announced)
  given(...searched, announced)
    .when(decideReplaceChunks(replaced.data))
    .emitsOnce(replaced)
  given(...searched)
    .when(decideReplaceChunks(replaced.data))
    .changesNothing()
  given(...searched)
    .when(decideReplaceChunks(unchanged.data))
    .emitsOnce(unchanged)
  given(...searched, announced, removed(one, 'deleted', true))
    .when(decideReplaceChunks(replaced.data))
    .changesNothing()
  const vectors = { ...one, model: 'openai/small', dimensions: 3, vectorsBlob: 'v' }
  const embedded: FileEvent = { type: 'UploadEmbedded', data: vectors }
  given(...searched, embedded, announced, replaced)
    .when(decideEmbed(vectors))
    .emitsOnce(embedded)
  given(...searched, embedded, unchanged)
    .when(decideEmbed(vectors))
    .changesNothing()
  const { uploads } = file.evolve.UploadRereadingStarted({ uploads: {} }, chunks)
  t.ok(isRereading({ uploads }, 'u-1', 'd'))
  t.notOk(isRereading({ uploads }, 'u-1', 'c'))
})

t.test('deleting removes every upload of the file, then erases it', async (t) => {
  const given = deciding(t, file)
  given(received(one), indexing(one), completed(one), received(two))
    .when(decideDelete)
    .emitsOnce(removed(one, 'deleted', true), removed(two, 'deleted', false))
  given().when(decideDelete).refuses('file_not_found')
  given(received(one), removed(one, 'deleted', false))
    .when(decideDelete)
    .refuses('file_not_found')
  given().when(decideRemoveAll('datastore_deleted')).changesNothing()
  given(received(one), removed(one, 'deleted', false))
    .when(decideErase(one))
    .emitsOnce({ type: 'UploadErased', data: one })
  given(received(one)).when(decideErase(one)).changesNothing()
  given(received(one), removed(one, 'deleted', false))
    .when(decideIndex({ ...one, ...made }))
    .changesNothing()
})

t.test('types by extension; a declared type has to fit', async (t) => {
  t.equal(fileTypeOf('a.PDF'), 'application/pdf')
  t.equal(fileTypeOf('a.b.markdown', 'text/markdown; charset=utf-8'), 'text/markdown')
  t.equal(fileTypeOf('a.jsonl', 'application/jsonl'), 'application/x-ndjson')
  for (const [name, declared, type] of [
    ['a.md', 'text/plain', 'text/markdown'],
    ['a.jsonl', 'application/json', 'application/x-ndjson'],
    ['a.ndjson', 'application/x-ndjson', 'application/x-ndjson'],
    ['a.jsonl', 'text/plain', 'application/x-ndjson'],
    ['a.htm', 'text/html', 'text/html'],
    ['a.html', 'text/plain', 'text/html'],
    ['a.json', 'text/plain; charset=utf-8', 'application/json'],
  ] as const)
    t.equal(fileTypeOf(name, declared), type, `${name} as ${declared}`)
  for (const [name, declared] of [
    ['a.txt', 'text/html'],
    ['a.json', 'application/x-ndjson'],
    ['a.docx', 'text/plain'],
  ] as const)
    t.equal(fileTypeOf(name, declared), undefined, `${name} as ${declared}`)
  for (const [name, declared] of [['a.exe'], ['pdf'], ['a.'], ['a.pdf', 'text/plain']] as const)
    t.equal(fileTypeOf(name, declared), undefined, name)
  t.equal(baseName('..\\..\\secret/a.md '), 'a.md')
  t.equal(baseName('folder/'), '')
})
