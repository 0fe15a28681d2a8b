import { createHash } from 'node:crypto'
import type {
  ContentProvider,
  GenerationInput,
  Output,
  Prediction,
} from '../../ports/content-provider.ts'
import { glbOf } from './glb.ts'
import { svgCard } from './svg-card.ts'
import { wavTone } from './wav-tone.ts'

const promptOf = ({ input }: GenerationInput): string =>
  typeof input.prompt === 'string' ? input.prompt : ''

type Maker = (prompt: string, seed: Buffer) => { bytes: Uint8Array; mediaType: string }

const makers: Record<GenerationInput['contentType'], Maker | undefined> = {
  image: (prompt, seed) => ({ bytes: svgCard(prompt, seed), mediaType: 'image/svg+xml' }),
  audio: (_, seed) => ({ bytes: wavTone(seed), mediaType: 'audio/wav' }),
  glb: (_, seed) => ({ bytes: glbOf(seed), mediaType: 'model/gltf-binary' }),
  video: undefined,
}

async function* only(bytes: Uint8Array): AsyncGenerator<Uint8Array> {
  yield bytes
}

const predictionOf = (id: string, { contentType }: GenerationInput): Prediction =>
  makers[contentType]
    ? { id, status: 'succeeded', outputUrl: null, error: null }
    : { id, status: 'failed', outputUrl: null, error: `no ${contentType} provider configured` }

/**
 * Generates content without a network, always the same for the same prompt: an SVG card, a WAV
 * tone, a small GLB. A video fails, so that a failure and its retry can be seen
 * (docs/contract/content.md#without-a-provider): the request is accepted and fails when its result
 * is asked for, so the second of two retries at once comes too early.
 */
export const offlineContentProvider = (): ContentProvider => ({
  versionOf: (contentType) => `offline/${contentType}-1`,
  async create(input, key) {
    const prediction = predictionOf(`offline-${key}`, input)
    return prediction.status === 'failed'
      ? { ...prediction, status: 'processing', error: null }
      : prediction
  },
  poll: async (id, input) => predictionOf(id, input),
  cancel: async () => undefined,
  async output(_, input): Promise<Output> {
    const prompt = promptOf(input)
    const seed = createHash('sha256').update(prompt).digest()
    const media = makers[input.contentType]?.(prompt, seed)
    return {
      bytes: only(media?.bytes ?? new Uint8Array()),
      mediaType: media?.mediaType ?? 'application/octet-stream',
    }
  },
})
