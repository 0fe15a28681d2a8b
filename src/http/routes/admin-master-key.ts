import type { FastifyPluginAsyncZod } from 'fastify-type-provider-zod'
import { z } from 'zod'
import type { MasterKeyRotation } from '../../security/master-key-rotation.ts'
import { refusals } from '../errors/responses.ts'

const rotation = z.object({
  state: z.enum(['none', 'rewrapping', 'rewrapped', 'interrupted']),
  rewrapped: z.int().describe('Data keys that this process has wrapped anew'),
  error: z.string().optional().describe('What interrupted it'),
})

const masterKey = z
  .base64()
  .refine((text) => Buffer.from(text, 'base64').length === 32, 'must be 32 bytes in base64')

const rotationBody = z
  .object({
    new_master_key: masterKey
      .nullish()
      .describe('Absent: a new one, where the server keeps the key in its data folder'),
  })
  .nullish()

/** The key that all stored keys rest on, for operators. */
export const adminMasterKeyRoutes =
  ({ status, rotate }: Pick<MasterKeyRotation, 'status' | 'rotate'>): FastifyPluginAsyncZod =>
  async (http) => {
    const config = { platform: true } as const
    const tags = ['admin: master key']

    http.get(
      '/master-key/rotation',
      {
        config,
        schema: {
          tags,
          summary: 'Show how far the rotation of the master key is',
          response: { 200: rotation, ...refusals('admin', 'platform_only') },
        },
      },
      status,
    )

    http.post(
      '/master-key/rotation',
      {
        config,
        schema: {
          tags,
          summary: 'Replace the master key while serving, or go on with that',
          body: rotationBody,
          response: {
            202: rotation,
            ...refusals(
              'admin',
              'platform_only',
              'rotation_under_way',
              'new_master_key_required',
              'idempotency_key_reused',
            ),
          },
        },
      },
      async (request, reply) => {
        const { new_master_key: next } = request.body ?? {}
        return reply.code(202).send(await rotate(next ? Buffer.from(next, 'base64') : undefined))
      },
    )
  }
