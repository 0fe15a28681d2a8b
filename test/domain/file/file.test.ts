import t from 'tap'
import type { FileEvent } from '../../../src/domain/file/events.ts'
import {
  decideAnnounceReread,
  decideComplete,
  decideDelete,
  decideEmbed,
  decideErase,
  decideFail,
  decideFinishReread,
  decideIndex,
  decideReceive,
  decideRemoveAll,
  decideRequeue,
  decideRetry,
  decideStart,
  file,
  hasVectors,
  isRereading,
} from '../../../src/domain/file/file.ts'
import { baseName, fileTypeOf } from '../../../src/domain/file/types.ts'
import { deciding } from '../../support/given.ts'

const identity = (uploadId: string) => ({ uploadId, datastoreId: 'd-1' })
const first = identity('u-1')
const second = identity('u-2')
const details = { filename: 'a.md', fileSize: 1, fileType: 'text/markdown', blob: 'b' } as const
const received = (of: typeof first): FileEvent => ({
  type: 'UploadReceived',
  data: { ...of, ...details },
})
const stored = { chunks: 2, chunksBlob: 'c' }
const indexing = (of: typeof first): FileEvent => ({
  type: 'UploadIndexingStarted',
  data: { ...of, ...stored },
})
const completed = (of: typeof first): FileEvent => ({ type: 'UploadCompleted', data: of })
const failed: FileEvent = { type: 'UploadFailed', data: { ...first, reason: 'Empty' } }
const removed = (
  of: typeof first,
  reason: 'deleted' | 'replaced' | 'datastore_deleted',
  completed: boolean,
): FileEvent => ({ type: 'UploadRemoved', data: { ...of, reason, completed } })
const requeued: FileEvent = { type: 'UploadRequeued', data: first }
const started: FileEvent = { type: 'UploadProcessingStarted', data: first }

t.test('from received to completed', async (t) => {
  const given = deciding(t, file)
  given()
    .when(decideReceive({ ...first, ...details }))
    .emitsOnce(received(first))
  given(received(first))
    .when(decideIndex({ ...first, ...stored }))
    .emitsOnce(indexing(first))
  given(received(first), indexing(first)).when(decideComplete(first)).emitsOnce(completed(first))
  given(received(first)).when(decideComplete(first)).changesNothing()
  given(received(first)).when(decideStart(first)).changesNothing()
})

t.test('after a crash it waits, and is taken up again', async (t) => {
  const given = deciding(t, file)
  given(received(first)).when(decideRequeue(first)).emitsOnce(requeued)
  given(received(first), indexing(first)).when(decideRequeue(first)).emitsOnce(requeued)
  given(received(first), requeued).when(decideStart(first)).emitsOnce(started)
  given(received(first), requeued)
    .when(decideIndex({ ...first, ...stored }))
    .changesNothing()
  given(received(first), failed).when(decideRequeue(first)).changesNothing()
})

t.test('it fails once, and not when it is over', async (t) => {
  const given = deciding(t, file)
  const fail = decideFail({ ...first, reason: 'Empty' })
  given(received(first)).when(fail).emitsOnce(failed)
  given(received(first), indexing(first), completed(first)).when(fail).changesNothing()
  given().when(fail).changesNothing()
})

t.test('a failed upload fails again or is queued again for a later reader only', async (t) => {
  const given = deciding(t, file)
  const again: FileEvent = { type: 'UploadFailed', data: { ...first, reason: 'Empty', reader: 2 } }
  const fail = decideFail({ ...first, reason: 'Empty', reader: 2 })
  given(received(first), failed).when(fail).emitsOnce(again)
  given(received(first), failed).when(decideRetry(first)).emitsOnce(requeued)
  given(received(first), indexing(first), completed(first))
    .when(decideRetry(first))
    .changesNothing()
  given().when(decideRetry(first)).changesNothing()
})

t.test('the latest upload that completes is the file', async (t) => {
  const given = deciding(t, file)
  given(received(first), indexing(first), completed(first), received(second), indexing(second))
    .when(decideComplete(second))
    .emitsOnce(completed(second), removed(first, 'replaced', true))
  given(received(first), failed, received(second), indexing(second))
    .when(decideComplete(second))
    .emitsOnce(completed(second), removed(first, 'replaced', false))
  given(received(first), received(second), indexing(second), indexing(first), completed(second))
    .when(decideComplete(first))
    .emitsOnce(completed(first), removed(first, 'replaced', true))
  given(received(first), received(second), indexing(second))
    .when(decideComplete(second))
    .emitsOnce(completed(second))
})

t.test('a completed upload is embedded, with the same vectors once', async (t) => {
  const given = deciding(t, file)
  const vectors = { ...first, model: 'openai/small', dimensions: 3, vectorsBlob: 'v' }
  const embedded: FileEvent = { type: 'UploadEmbedded', data: vectors }
  const embed = decideEmbed(vectors)
  given(received(first), indexing(first)).when(embed).changesNothing()
  given(received(first), indexing(first), completed(first)).when(embed).emitsOnce(embedded)
  const again: FileEvent = { type: 'UploadEmbedded', data: { ...vectors, vectorsBlob: 'w' } }
  given(received(first), indexing(first), completed(first), again).when(embed).emitsOnce(embedded)
  given(received(first), removed(first, 'deleted', true))
    .when(embed)
    .changesNothing()
  const { uploads } = file.evolve.UploadEmbedded({ uploads: {} }, vectors)
  t.ok(hasVectors({ uploads }, 'u-1', 'v'))
  t.notOk(hasVectors({ uploads }, 'u-1', 'w'))
  t.notOk(hasVectors({ uploads }, 'u-2', 'v'))
})

t.test('a completed upload is read again, each time once', async (t) => {
  const given = deciding(t, file)
  const chunks = { ...first, reader: 2, chunks: 3, chunksBlob: 'd' }
  const announced: FileEvent = { type: 'UploadRereadingStarted', data: chunks }
  const replaced: FileEvent = {
    type: 'UploadReread',
    data: { ...first, reader: 2, chunksBlob: 'd' },
  }
  const unchanged: FileEvent = { type: 'UploadReread', data: { ...first, reader: 2 } }
  const searched = [received(first), indexing(first), completed(first)] as const
  given(received(first), indexing(first)).when(decideAnnounceReread(chunks)).changesNothing()
  given(...searched)
    .when(decideAnnounceReread(chunks))
    .emitsOnce(announced)
  given(...searched, announced)
    .when(decideFinishReread(replaced.data))
    .emitsOnce(replaced)
  given(...searched)
    .when(decideFinishReread(replaced.data))
    .changesNothing()
  given(...searched)
    .when(decideFinishReread(unchanged.data))
    .emitsOnce(unchanged)
  given(...searched, announced, removed(first, 'deleted', true))
    .when(decideFinishReread(replaced.data))
    .changesNothing()
  const vectors = { ...first, model: 'openai/small', dimensions: 3, vectorsBlob: 'v' }
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
  given(received(first), indexing(first), completed(first), received(second))
    .when(decideDelete)
    .emitsOnce(removed(first, 'deleted', true), removed(second, 'deleted', false))
  given().when(decideDelete).refuses('file_not_found')
  given(received(first), removed(first, 'deleted', false))
    .when(decideDelete)
    .refuses('file_not_found')
  given().when(decideRemoveAll('datastore_deleted')).changesNothing()
  given(received(first), removed(first, 'deleted', false))
    .when(decideErase(first))
    .emitsOnce({ type: 'UploadErased', data: first })
  given(received(first)).when(decideErase(first)).changesNothing()
  given(received(first), removed(first, 'deleted', false))
    .when(decideIndex({ ...first, ...stored }))
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
