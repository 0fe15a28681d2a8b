import type { Call } from './call.ts'

export type Generatable = 'image' | 'video' | 'audio' | 'glb'

/** Something to be made for the call's acting user. */
export type GenerationRequest = {
  prompt: string
  contentType: Generatable
  /** The session it is asked for in: with its erasure the prompt is gone too. */
  sessionId: string
  /** The run that asks for it. */
  runId: string
}

export type Requested = { id: string; content_type: Generatable; status: string }

export type ContentGeneration = {
  /** Resolves when the request is stored; it is made afterwards. @throws Refusal */
  request(request: GenerationRequest, call: Call): Promise<Requested>
}
