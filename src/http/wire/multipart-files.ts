import multipart from '@fastify/multipart'
import type { FastifyInstance, FastifyRequest } from 'fastify'
import type { ArrivedFile } from '../../../commands/upload-files.ts'
import { baseName, type FileType } from '../../domain/file/types.ts'
import { Refusal, refusal } from '../../domain/refusal.ts'
import { StoreUnavailable } from '../../ports/event-store.ts'
import type { Spool, Spooled } from '../../security/spool.ts'
import {
  largestFile,
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

const limits = {
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
 * wrong type, or one that the disk does not take, is refused only after all are read: a client that still sends does not read the
 * answer.
 */
export const multipartFiles = async (http: FastifyInstance, spool: Spool) => {
  await http.register(multipart, { limits })
  http.decorateRequest('spooled', undefined)

  const kept = new WeakMap<FastifyRequest, Spooled[]>()
  const cleared = async (request: FastifyRequest): Promise<void> => {
    for (const { remove } of kept.get(request) ?? []) await remove()
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
    for await (const part of request.parts()) {
      if (part.type === 'field') {
        form.fields[part.fieldname] = part.value
        continue
      }
      const sentAs = part.filename ?? ''
      const filename = baseName(sentAs)
      const declared = part.mimetype === unsaid ? undefined : part.mimetype
      const fileType = typeOf(filename, declared)
      const file = await spool
        .keep(part.file.iterator({ destroyOnReturn: false }))
        .catch((error) => {
          if (!(error instanceof StoreUnavailable)) throw error
          refused.push(error)
          part.file.resume()
        })
      if (!file) continue
      kept.set(request, [...(kept.get(request) ?? []), file])
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
      ? refusal('payload_too_large', { message: 'The form has too many parts, or too large ones' })
      : refusal('invalid_input', { message: 'The body is not a valid multipart form' })
  }

  http.addHook('preValidation', async (request) => {
    if (!request.isMultipart()) return
    try {
      const { fields, files } = await read(request)
      const said = files.map(({ sentAs, hash }) => [sentAs, hash])
      request.rawBody = Buffer.from(JSON.stringify([fields, said]))
      request.spooled = files
      request.body = {
        datastore_id: fields.datastore_id,
        files: files.map(({ sentAs }) => ({ filename: sentAs, content: '' })),
      }
    } catch (error) {
      await cleared(request)
      throw wordsFor(error)
    }
  })
  http.addHook('onResponse', cleared)
}
