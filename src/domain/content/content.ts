import { type Aggregate, streamOf } from '../aggregate.ts'
import { refusal } from '../refusal.ts'
import { isOwn, type Viewer } from '../session/viewer.ts'
import { type ContentEvent, contentEvents } from './events.ts'

type Request = ContentEvent<'ContentRequested'>['data']
type Completion = ContentEvent<'ContentCompleted'>['data']
type Failure = ContentEvent<'ContentFailed'>['data']

export type Content = {
  status: 'unknown' | 'pending' | 'processing' | 'completed' | 'failed' | 'erased'
  ownerId: string
  keyId: string | null
  /** Who is charged for the present generation. */
  payerId: string
  /** Generations begun again so far; the number of the present one. */
  attempt: number
  maxRetries: number
  /** What the provider calls the present generation, once it has taken it. */
  predictionId: string | null
  /** What one generation is expected to cost, in micro-credits. */
  reserved: number
  /** Names the stored bytes, also after the erasure. */
  hash: string | null
}

export const content: Aggregate<Content, typeof contentEvents> = {
  category: 'content',
  events: contentEvents,
  initial: {
    status: 'unknown',
    ownerId: '',
    keyId: null,
    payerId: '',
    attempt: 0,
    maxRetries: 0,
    predictionId: null,
    reserved: 0,
    hash: null,
  },
  evolve: {
    ContentRequested: (state, { userId, keyId, payerId, maxRetries, reserved }) => ({
      ...state,
      status: 'pending',
      ownerId: userId,
      keyId,
      payerId,
      maxRetries,
      reserved,
    }),
    ContentStarted: (state) => ({ ...state, status: 'processing', predictionId: null }),
    ContentSubmitted: (state, { predictionId }) => ({ ...state, predictionId }),
    ContentCompleted: (state, { hash }) => ({ ...state, status: 'completed', hash }),
    ContentFailed: (state) => ({ ...state, status: 'failed' }),
    ContentRetryQueued: (state, { attempt, payerId }) => ({
      ...state,
      status: 'pending',
      attempt,
      payerId,
    }),
    ContentErased: (state) => ({ ...state, status: 'erased' }),
  },
  stateVersion: 4,
}

export const contentStream = (organizationId: string, contentId: string) =>
  streamOf(content, organizationId, contentId)

/** A request that comes twice is stored once. */
export const decideRequest =
  (data: Request) =>
  ({ status }: Content): ContentEvent<'ContentRequested'>[] =>
    status === 'unknown' ? [{ type: 'ContentRequested', data }] : []

/** Takes up a generation that waits; nothing when it is under way or over. */
export const decideStart = ({ status, attempt }: Content): ContentEvent<'ContentStarted'>[] =>
  status === 'pending' ? [{ type: 'ContentStarted', data: { attempt } }] : []

/** Notes the provider's name for the generation under way, once. */
export const decideSubmit =
  (predictionId: string) =>
  (state: Content): ContentEvent<'ContentSubmitted'>[] =>
    state.status === 'processing' && state.predictionId === null
      ? [{ type: 'ContentSubmitted', data: { predictionId } }]
      : []

/** A generation ends once, with whatever came first; `attempt` tells it from an earlier one. */
export const decideFinish =
  (attempt: number, end: { completed: Completion } | { failed: Failure }) =>
  (state: Content): ContentEvent<'ContentCompleted' | 'ContentFailed'>[] => {
    if (state.status !== 'processing' || state.attempt !== attempt) return []
    return 'completed' in end
      ? [{ type: 'ContentCompleted', data: end.completed }]
      : [{ type: 'ContentFailed', data: end.failed }]
  }

/** @throws content_not_found, content_not_failed, max_retries_reached */
export const decideRetry =
  (viewer: Viewer, payerId: string) =>
  (state: Content): [ContentEvent<'ContentRetryQueued'>] => {
    const { status, attempt, maxRetries } = state
    if (['unknown', 'erased'].includes(status) || !isOwn(viewer, state))
      throw refusal('content_not_found')
    if (status !== 'failed') throw refusal('content_not_failed')
    if (attempt >= maxRetries) throw refusal('max_retries_reached')
    return [{ type: 'ContentRetryQueued', data: { attempt: attempt + 1, maxRetries, payerId } }]
  }

/** Erases an item together with its session, once. What is under way ends without being stored. */
export const decideErase =
  (sessionId: string) =>
  ({ status }: Content): ContentEvent<'ContentErased'>[] =>
    status === 'unknown' || status === 'erased'
      ? []
      : [{ type: 'ContentErased', data: { sessionId } }]
