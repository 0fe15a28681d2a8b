import { z } from 'zod'
import type { EventOf } from '../aggregate.ts'
import { sealed } from '../sealed.ts'

const id = z.string()
const micro = z.int().min(0)

// Stored for good: add an optional field or a new event; never rename, never narrow.
export const contentEvents = {
  /**
   * `userId` owns the item, `payerId` is charged. `input` is all that the provider is sent, as
   * sealed JSON. `reserved` in micro-credits is what one generation is expected to cost. Events of
   * earlier releases have no `sessionId` (read it with `requestSession`) and no `runId`.
   */
  ContentRequested: z.object({
    sessionId: id.optional(),
    runId: id.optional(),
    userId: id,
    keyId: id.nullable(),
    payerId: id,
    requested: z.enum(['image', 'video', 'audio', 'glb']),
    prompt: sealed,
    input: sealed,
    providerVersion: z.string(),
    maxRetries: z.int().min(0),
    reserved: micro,
  }),
  /** Written before the provider is asked, so that a crash in between asks again as the same. */
  ContentStarted: z.object({ attempt: z.int().min(0) }),
  ContentSubmitted: z.object({ predictionId: id }),
  /** `hash` names the stored bytes. */
  ContentCompleted: z.object({
    contentType: z.enum(['image', 'video', 'audio', 'glb', 'other']),
    outputUrl: z.string().nullable(),
    hash: z.string(),
    size: z.int().min(0),
    mediaType: z.string(),
    processingTimeMs: z.number().min(0),
    charge: micro,
  }),
  ContentFailed: z.object({ errorMessage: z.string(), processingTimeMs: z.number().min(0) }),
  /** Whoever asks for the retry is charged for it. */
  ContentRetryQueued: z.object({ attempt: z.int().min(1), maxRetries: z.int(), payerId: id }),
  /** The session that it was made in is erased; its file is removed next. */
  ContentErased: z.object({ sessionId: id }),
}

export type ContentEvent<Type extends keyof typeof contentEvents = keyof typeof contentEvents> =
  EventOf<typeof contentEvents, Type>

/**
 * The session of a request. Without `sessionId`, the name of the session's data key gives it:
 * `session:<organization id>/<session id>`.
 */
export const requestSession = ({
  sessionId,
  prompt,
}: Pick<ContentEvent<'ContentRequested'>['data'], 'sessionId' | 'prompt'>): string =>
  sessionId ?? prompt.$sealed.slice(prompt.$sealed.indexOf('/') + 1)
