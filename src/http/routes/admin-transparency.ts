import type { FastifyReply } from 'fastify'
import type { FastifyPluginAsyncZod } from 'fastify-type-provider-zod'
import { z } from 'zod'
import type { GetCheckpoint } from '../../../queries/get-checkpoint.ts'
import type { GetEntries } from '../../../queries/get-entries.ts'
import type { GetLogKey } from '../../../queries/get-log-key.ts'
import type { GetTile } from '../../../queries/get-tile.ts'
import type { ProveConsistency } from '../../../queries/prove-consistency.ts'
import type { ProveInclusion } from '../../../queries/prove-inclusion.ts'
import { refusal } from '../../domain/refusal.ts'
import { parsedTilePath, type Tile, tileWidth } from '../../transparency/tile.ts'
import type { HistoryOwner } from '../checks/history-owner.ts'
import { refusals } from '../errors/responses.ts'
import { type Lines, linesBody } from '../streams/ndjson.ts'
import { integer } from '../wire/fields.ts'

type Uses = {
  getCheckpoint: GetCheckpoint
  getLogKey: GetLogKey
  getTile: GetTile
  getEntries: GetEntries
  proveInclusion: ProveInclusion
  proveConsistency: ProveConsistency
  exportLines(organizationId: string, from: number, to?: number): Promise<Lines>
  history: HistoryOwner
}

/** Undefined for a level that no tile has. */
const tileLevel = z
  .union([z.literal('entries'), integer(0, 5)])
  .optional()
  .catch(undefined)
const tilePlace = z.object({ level: tileLevel, '*': z.string() })
const index = integer(0)
const count = integer(0).optional()
const hashes = z.array(z.base64())

const tags = ['admin: audit']

const plain = (reply: FastifyReply, text: string) =>
  reply.type('text/plain; charset=utf-8').header('cache-control', 'no-store').send(text)

const ndjson = (reply: FastifyReply, lines: Lines) =>
  reply.type('application/x-ndjson').send(linesBody(reply.request, lines))

/** A history as a transparency log (C2SP tlog-tiles; docs/contract/transparency-log.md#tree). */
export const adminTransparencyRoutes =
  (uses: Uses): FastifyPluginAsyncZod =>
  async (http) => {
    const { at, params, rules: config, summary } = uses.history
    const organizationOf = uses.history.of
    const refused = refusals('admin', ...uses.history.refused)

    /** An answer that is not JSON. */
    const answers = (type: string, description: string) => ({
      200: { description, content: { [type]: { schema: z.string() } } },
      ...refused,
    })

    http.get(
      `${at}/key`,
      {
        config: { ...config, answers: 'text/plain' },
        schema: {
          tags,
          summary: summary('Get the public key that verifies checkpoints'),
          params,
          response: answers('text/plain', 'A verifier key (C2SP signed-note)'),
        },
      },
      async (request, reply) => {
        const organizationId = await organizationOf(request)
        return plain(reply, `${uses.getLogKey(organizationId)}\n`)
      },
    )

    http.get(
      `${at}/checkpoint`,
      {
        config: { ...config, answers: 'text/plain' },
        schema: {
          tags,
          summary: summary('Get the signed size and root hash of the history'),
          params,
          response: answers('text/plain', 'A signed note (C2SP tlog-checkpoint)'),
        },
      },
      async (request, reply) => {
        const organizationId = await organizationOf(request)
        return plain(reply, await uses.getCheckpoint(organizationId))
      },
    )

    http.get(
      `${at}/proofs/inclusion`,
      {
        config,
        schema: {
          tags,
          summary: summary('Prove that an event is in the history'),
          params,
          querystring: z.object({ index, size: count }),
          response: {
            200: z.object({
              index: z.int(),
              size: z.int(),
              leaf_hash: z.base64(),
              root_hash: z.base64(),
              hashes,
            }),
            ...refused,
          },
        },
      },
      async (request) => {
        const organizationId = await organizationOf(request)
        const { index, size } = request.query
        return uses.proveInclusion(organizationId, index, size)
      },
    )

    http.get(
      `${at}/proofs/consistency`,
      {
        config,
        schema: {
          tags,
          summary: summary('Prove that a shorter history is the beginning of a longer one'),
          params,
          querystring: z.object({ from: index, to: count }),
          response: {
            200: z.object({
              from: z.int(),
              to: z.int(),
              from_root_hash: z.base64(),
              to_root_hash: z.base64(),
              hashes,
            }),
            ...refused,
          },
        },
      },
      async (request) => {
        const organizationId = await organizationOf(request)
        const { from, to } = request.query
        return uses.proveConsistency(organizationId, from, to)
      },
    )

    http.get(
      `${at}/export`,
      {
        config: { ...config, answers: 'application/x-ndjson' },
        schema: {
          tags,
          summary: summary('Export the stored events as canonical lines; sealed texts stay sealed'),
          params,
          querystring: z.object({ from: index.default(0), to: count }),
          response: answers('application/x-ndjson', 'One event a line (RFC 8785)'),
        },
      },
      async (request, reply) => {
        const organizationId = await organizationOf(request)
        const { from, to } = request.query
        return ndjson(reply, await uses.exportLines(organizationId, from, to))
      },
    )

    http.get(
      `${at}/tile/:level/*`,
      {
        config: { ...config, answers: 'application/octet-stream', uncounted: true },
        // OpenAPI cannot describe a path parameter of several segments.
        schema: { hide: true, params: params.extend(tilePlace.shape) },
      },
      async (request, reply) => {
        const { level, '*': path } = tilePlace.parse(request.params)
        const organizationId = await organizationOf(request)
        const tile = parsedTilePath(path)
        if (!tile || level === undefined) throw refusal('tile_not_found')
        const read = (tile: Tile) =>
          level === 'entries'
            ? uses.getEntries(organizationId, tile)
            : uses.getTile(organizationId, level, tile)
        const bytes = await read(tile)
        const cacheControl =
          tile.width === tileWidth ? 'private, max-age=31536000, immutable' : 'no-store'
        return reply
          .type('application/octet-stream')
          .header('cache-control', cacheControl)
          .send(bytes)
      },
    )
  }
