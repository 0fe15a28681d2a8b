import type { FastifyPluginAsyncZod } from 'fastify-type-provider-zod'
import { z } from 'zod'
import type { FindContentFile } from '../../../queries/find-content-file.ts'
import type { findMessageFile } from '../../../queries/find-message-file.ts'
import { refusal } from '../../domain/refusal.ts'
import type { SealedBlobs } from '../../security/sealed-blobs.ts'
import type { SignedLinks } from '../../security/signed-links.ts'
import { openRefusals } from '../errors/responses.ts'
import { pathId } from '../wire/fields.ts'
import { linkProof } from '../wire/file-links.ts'

type Uses = {
  links: SignedLinks
  findContentFile: FindContentFile
  findMessageFile: ReturnType<typeof findMessageFile>
  blobs: SealedBlobs
}

const params = z.object({ content_id: pathId })

const file = (description: string) => ({
  description,
  content: { '*/*': { schema: z.unknown() } },
})

/** `bytes=a-b`, `a-` or `-n`; undefined for any other range: the whole file is sent. */
const rangeOf = (header: string | undefined, size: number) => {
  const groups = header?.match(/^bytes=(?<first>\d*)-(?<last>\d*)$/)?.groups
  if (!groups || (!groups.first && !groups.last)) return undefined
  const start = groups.first ? Number(groups.first) : Math.max(0, size - Number(groups.last))
  const end = groups.first && groups.last ? Math.min(Number(groups.last), size - 1) : size - 1
  if (start > end || start >= size) return 'none'
  return { start, end }
}

/** Whether `If-None-Match` names the current file. */
const isAmong = (known: string, tag: string): boolean =>
  known.split(',').some((etag) => ['*', tag].includes(etag.trim().replace(/^W\//, '')))

/** A file name in the encoding of RFC 6266, in ASCII. */
const dispositionOf = (download: string | undefined): string => {
  if (download === undefined) return 'inline'
  const encoded = encodeURIComponent(download).replace(
    /['()*]/g,
    (character) => `%${character.charCodeAt(0).toString(16)}`,
  )
  return `attachment; filename*=UTF-8''${encoded}`
}

/**
 * GET /files/{content_id}: generated content, or a file of a message, behind a signed link. Answers
 * whole files and ranges.
 */
export const fileRoutes =
  ({ links, findContentFile, findMessageFile, blobs }: Uses): FastifyPluginAsyncZod =>
  async (http) => {
    http.get(
      '/files/:content_id',
      {
        schema: {
          tags: ['content'],
          summary: 'Get a generated file or one of a message, or a range of it',
          params,
          querystring: linkProof,
          response: {
            200: file('The file'),
            206: file('The range that was asked for'),
            304: z.undefined().describe('The client has the current file'),
            ...openRefusals('file_link_invalid', 'range_not_satisfiable'),
          },
        },
      },
      async (request, reply) => {
        const id = request.params.content_id
        const { expires, signature } = request.query
        if (!links.isValid('file', id, expires, signature)) throw refusal('file_link_invalid')
        const message = await findMessageFile(id)
        const file = message ?? (await findContentFile(id))
        const stored = file && blobs.under(file.key)
        const size = await stored?.size(file?.hash ?? '')
        if (!file || !stored || size === undefined) throw refusal('file_link_invalid')
        const tag = `"${file.hash}"`
        const { 'if-none-match': known, 'if-range': ifRange, range: rangeHeader } = request.headers
        const range =
          ifRange === undefined || ifRange === tag ? rangeOf(rangeHeader, size) : undefined
        if (range === 'none') {
          reply.header('content-range', `bytes */${size}`)
          throw refusal('range_not_satisfiable')
        }
        reply.headers({
          'content-type': file.mediaType,
          'accept-ranges': 'bytes',
          etag: tag,
          'cache-control': 'private, max-age=3600',
          // Images are shown; scripts in what is shown never run.
          'content-security-policy': "default-src 'none'; style-src 'unsafe-inline'; sandbox",
          'content-disposition': dispositionOf(file.download),
        })
        if (known && isAmong(known, tag)) return reply.code(304).send()
        const bytes = await stored.get(file.hash, range)
        if (!bytes) throw refusal('file_link_invalid')
        if (range) {
          const { start, end } = range
          reply.code(206).headers({
            'content-range': `bytes ${start}-${end}/${size}`,
            'content-length': end - start + 1,
          })
        } else reply.header('content-length', size)
        return reply.send(bytes)
      },
    )
  }
