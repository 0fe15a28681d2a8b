import multipart from '@fastify/multipart'
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
    spooled: ArrivedFile[] | undefined
  }
}

/** The type that clients send for files they do not know. */
const unsaid = 'application/octet-stream'

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

/**
 * Reads `multipart/form-data` with a field `datastore_id` and files into the same body as JSON.
 * Files are encrypted to disk as they arrive, and removed once the request is answered. A file of a
 * wrong type, or one that the disk does not take, is refused only after all are read: a client that
 * still sends does not read the answer. After any other refusal the rest is not parsed. Answers a
 * function that keeps other bytes of a request in the same way.
 */
export const multipartFiles = async (http: FastifyInstance, spool: Spool) => {
  await http.register(multipart, { limits })
  http.decorateRequest('spooled', undefined)

  const spools = new WeakMap<FastifyRequest, Spooled[]>()
  const cleared = async (request: FastifyRequest): Promise<void> => {
    for (const { remove } of spools.get(request) ?? []) await remove()
  }

  const keep = async (request: FastifyRequest, bytes: AsyncIterable<Uint8Array>) => {
    const file = await spool.keep(bytes)
    spools.set(request, [...(spools.get(request) ?? []), file])
    return file
  }

  /** Rejects once more bytes have come than a form has; nobody need wait for it. */
  const excess = ({ raw }: FastifyRequest): Promise<never> => {
    const { promise, reject } = deferred<never>()
    promise.catch(() => undefined)
    let bytes = 0
    raw.on('data', (chunk: Buffer) => {
      bytes += chunk.length
      if (bytes > mostBytes) reject(tooMuch())
    })
    return promise
  }

  const read = async (request: FastifyRequest): Promise<Form> => {
    const form: Form = { fields: {}, files: [] }
    const refused: unknown[] = []
    const typeOf = (name: string, declared: string | undefined): FileType => {
      try {
        return requireFileType(name, declared)
      } catch (error) {
        refused.push(error)
        return 'text/plain'
      }
    }
    let total = 0
    const parts = request.parts()
    const tooLong = excess(request)
    for (;;) {
      const { done, value: part } = await Promise.race([parts.next(), tooLong])
      if (done) break
      if (part.type === 'field') {
        form.fields[part.fieldname] = part.value
        continue
      }
      const sentAs = (part.filename ?? '').replaceAll('%22', '"')
      const filename = baseName(sentAs)
      const declared = part.mimetype === unsaid ? undefined : part.mimetype
      const fileType = typeOf(filename, declared)
      const file = await keep(request, part.file.iterator({ destroyOnReturn: false })).catch(
        (error) => {
          if (!(error instanceof StoreUnavailable)) throw error
          refused.push(error)
          part.file.resume()
        },
      )
      if (!file) continue
      const { bytes, size, hash } = file
      requireFileSize(filename, size)
      total += size
      requireUploadSize(total)
      form.files.push({ filename, fileType, size, hash, bytes, sentAs })
    }
    if (refused.length > 0) throw refused[0]
    return form
  }

  const wordsFor = (error: unknown): Refusal | StoreUnavailable => {
    if (error instanceof Refusal || error instanceof StoreUnavailable) return error
    const { code = '' } = error as { code?: string }
    if (code === 'FST_FILES_LIMIT') return refusal('invalid_input', { issues: [tooMany] })
    return /_(?:LIMIT|TOO_LARGE)$/.test(code)
      ? tooMuch()
      : refusal('invalid_input', { message: 'The body is not a valid multipart form' })
  }

  http.addHook('preValidation', async (request) => {
    if (!request.isMultipart()) return
    try {
      const { fields, files } = await read(request)
      const fileHashes = files.map(({ sentAs, hash }) => [sentAs, hash])
      request.bodyIdentity = Buffer.from(JSON.stringify([fields, fileHashes]))
      request.spooled = files
      request.body = {
        datastore_id: fields.datastore_id,
        files: files.map(({ sentAs }) => ({ filename: sentAs, content: '' })),
      }
    } catch (error) {
      request.raw.unpipe()
      request.raw.resume()
      await cleared(request)
      throw wordsFor(error)
    }
  })
  http.addHook('onResponse', cleared)
  return keep
}
