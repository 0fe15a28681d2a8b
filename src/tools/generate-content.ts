import { z } from 'zod'
import type { Tool } from '../agents/tool.ts'
import { Refusal } from '../domain/refusal.ts'
import type { ContentGeneration } from '../ports/content-generation.ts'
import { failure, success } from './results.ts'
import { typedTool } from './typed-tool.ts'

const types = ['image', 'video', 'audio', 'glb'] as const

/** Starts the generation of content for the user of the turn; the content is ready later. */
export const generateContentTool = (generation: ContentGeneration): Tool =>
  typedTool({
    name: 'generate_content',
    effect: 'write',
    description:
      'Has an image, a video, a sound or a 3D model (glb) made from a description. It is made in the background: the answer is the id under which it will be found.',
    args: z.object({
      prompt: z.string().trim().min(1).max(8_000),
      content_type: z.enum(types),
    }),
    async run({ prompt, content_type: contentType }, { turn: { call, sessionId, runId } }) {
      try {
        const { id, content_type, status } = await generation.request(
          { prompt, contentType, sessionId, runId },
          call,
        )
        return success(JSON.stringify({ id, content_type, status }))
      } catch (error) {
        if (error instanceof Refusal) return failure(error.message)
        throw error
      }
    },
  })
