import multipart, { type MultipartFile } from '@fastify/multipart'
import type { FastifyInstance, FastifyRequest } from 'fastify'
import type { ArrivedFile } from '../../../commands/upload-files.ts'
import { baseName, type FileType } from '../../domain/file/types.ts'
import { Refusal, refusal } from '../../domain/refusal.ts'
import { StoreUnavailable } from '../../ports/event-store.ts'
import type { Spool, Spooled } from '../../security/spool.ts'
import { deferred } from '../../support/deferred.ts'
import {
  largestFile,
  largestUpload,
  requireFileSize,
  requireFileType,
  requireUploadSize,
} from '../checks/file-limits.ts'

declare module 'fastify' {
  interface FastifyRequest {
    /** The files of a form, on disk; undefined when the body was JSON. */
    formFiles: ArrivedFile[] | undefined
  }
}

/** The type that clients send for files they do not know. */
const unknownType = 'application/octet-stream'

/** Of one request (docs/contract/limits.md#sizes). */
const mostFiles = 10

const tooMany = {
  path: ['body', 'files'],
  message: `Too big: expected array to have <=${mostFiles} items`,
  kind: 'too_big',
}

/** Bytes of a form: its files, its fields, and the heads of its parts. */
const mostBytes = largestUpload + 65_536

const tooMuch = () =>
  refusal('payload_too_large', { message: 'The form has too many parts, or too large ones' })

const limits = {
  parts: 20,
  fileSize: largestFile + 1,
  files: mostFiles,
  fields: 10,
  fieldSize: 1_000,
  fieldNameSize: 100,
  headerPairs: 20,
}

type Form = { fields: Record<string, unknown>; files: (ArrivedFile & { sentAs: string })[] }

/** Keeps bytes of a request on disk until it is answered. */
type KeepBytes = (request: FastifyRequest, bytes: AsyncIterable<Uint8Array>) => Promise<Spooled>

/** Rejects once more bytes have arrived than a form may have. Nobody need wait for it. */
const rejectExcess = ({ raw }: FastifyRequest): Promise<never> => {
  const { promise, reject } = deferred<never>()
  promise.catch(() => undefined)
  let bytes = 0
  raw.on('data', (chunk: Buffer) => {
    bytes += chunk.length
    if (bytes > mostBytes) reject(tooMuch())
  })
  return promise
}

const fileTypeOf = (filename: string, mimetype: string): FileType =>
  requireFileType(filename, mimetype === unknownType ? undefined : mimetype)

/**
 * Keeps the file of a part. A wrong type, or a full disk, is added to `refused`: the rest of the
 * form is read first.
 */
const readFile = async (
  request: FastifyRequest,
  part: MultipartFile,
  keep: KeepBytes,
  refused: unknown[],
): Promise<Form['files'][number] | undefined> => {
  const sentAs = (part.filename ?? '').replaceAll('%22', '"')
  const filename = baseName(sentAs)
  let fileType: FileType = 'text/plain'
  try {
    fileType = fileTypeOf(filename, part.mimetype)
  } catch (error) {
    refused.push(error)
  }
  try {
    const { bytes, size, hash } = await keep(
      request,
      part.file.iterator({ destroyOnReturn: false }),
    )
    return { filename, fileType, size, hash, bytes, sentAs }
  } catch (error) {
    if (!(error instanceof StoreUnavailable)) throw error
    refused.push(error)
    part.file.resume()
    return undefined
  }
}

/** @throws Refusal, StoreUnavailable, errors of the multipart parser */
const readForm = async (request: FastifyRequest, keep: KeepBytes): Promise<Form> => {
  const form: Form = { fields: {}, files: [] }
  const refused: unknown[] = []
  let total = 0
  const parts = request.parts()
  const excess = rejectExcess(request)
  for (;;) {
    const { done, value: part } = await Promise.race([parts.next(), excess])
    if (done) break
    if (part.type === 'field') {
      form.fields[part.fieldname] = part.value
      continue
    }
    const file = await readFile(request, part, keep, refused)
    if (!file) continue
    requireFileSize(file.filename, file.size)
    total += file.size
    requireUploadSize(total)
    form.files.push(file)
  }
  if (refused.length > 0) throw refused[0]
  return form
}

/** Gives a request the body that JSON would have, and its files. */
const setForm = (request: FastifyRequest, { fields, files }: Form): void => {
  const identity = files.map(({ sentAs, hash }) => [sentAs, hash])
  request.bodyIdentity = Buffer.from(JSON.stringify([fields, identity]))
  request.formFiles = files
  request.body = {
    datastore_id: fields.datastore_id,
    files: files.map(({ sentAs }) => ({ filename: sentAs, content: '' })),
  }
}

const refusalOf = (error: unknown): Refusal | StoreUnavailable => {
  if (error instanceof Refusal || error instanceof StoreUnavailable) return error
  const { code = '' } = error as { code?: string }
  if (code === 'FST_FILES_LIMIT') return refusal('invalid_input', { issues: [tooMany] })
  return /_(?:LIMIT|TOO_LARGE)$/.test(code)
    ? tooMuch()
    : refusal('invalid_input', { message: 'The body is not a valid multipart form' })
}

/**
 * Reads `multipart/form-data` with a field `datastore_id` and files into the same body as JSON.
 * Files are encrypted to disk as they arrive, and removed once the request is answered. A file of a
 * wrong type, or one that the disk does not take, is refused only after all are read: a client that
 * still sends does not read the answer. After any other refusal the rest is not parsed. Answers a
 * function that keeps other bytes of a request in the same way.
 */
export const acceptForms = async (http: FastifyInstance, spool: Spool): Promise<KeepBytes> => {
  await http.register(multipart, { limits })
  http.decorateRequest('formFiles', undefined)

  const files = new WeakMap<FastifyRequest, Spooled[]>()
  const remove = async (request: FastifyRequest): Promise<void> => {
    for (const file of files.get(request) ?? []) await file.remove()
  }
  const keep: KeepBytes = async (request, bytes) => {
    const file = await spool.keep(bytes)
    files.set(request, [...(files.get(request) ?? []), file])
    return file
  }

  http.addHook('preValidation', async (request) => {
    if (!request.isMultipart()) return
    try {
      setForm(request, await readForm(request, keep))
    } catch (error) {
      request.raw.unpipe()
      request.raw.resume()
      await remove(request)
      throw refusalOf(error)
    }
  })
  http.addHook('onResponse', remove)
  return keep
}
