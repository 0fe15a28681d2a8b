import { contentEvents } from '../src/domain/content/events.ts'
import type { Sealed } from '../src/domain/sealed.ts'
import { idIn, type Projection } from './projection.ts'

/** A generated content item; prompt and input stay sealed, amounts are micro-credits. */
export type ContentView = {
  id: string
  organization_id: string
  user_id: string
  key_id: string | null
  payer_id: string
  requested: 'image' | 'video' | 'audio' | 'glb'
  /** Null until generation completes. */
  content_type: 'image' | 'video' | 'audio' | 'glb' | 'other' | null
  status: 'pending' | 'processing' | 'completed' | 'failed'
  /** Only while it is not over, so that its index holds the work to be done and nothing else. */
  open?: true
  prompt: Sealed
  input: Sealed
  provider_version: string
  provider_prediction_id: string | null
  output_url: string | null
  hash: string | null
  media_type: string | null
  error_message: string | null
  processing_time_ms: number | null
  charge: number
  reserved: number
  retry_count: number
  max_retries: number
  created_at: string
  started_at: string | null
  completed_at: string | null
}

const owner = ['organization_id', 'user_id']
const byKey = [...owner, 'key_id']
const newest = (equals: readonly string[]) => ({ equals, orderBy: 'created_at' })

export const contents: Projection<ContentView, typeof contentEvents> = {
  name: 'contents',
  categories: ['content'],
  events: contentEvents,
  indexes: {
    open: { equals: ['open'], orderBy: 'created_at' },
    by_user: newest(owner),
    by_user_type: newest([...owner, 'content_type']),
    by_user_status: newest([...owner, 'status']),
    by_user_type_status: newest([...owner, 'content_type', 'status']),
    by_key: newest(byKey),
    by_key_type: newest([...byKey, 'content_type']),
    by_key_status: newest([...byKey, 'status']),
    by_key_type_status: newest([...byKey, 'content_type', 'status']),
  },
  id: ({ stream }) => idIn(stream),
  creates: {
    ContentRequested: ({ stream, metadata, data }) => ({
      id: idIn(stream),
      organization_id: metadata.organization_id,
      user_id: data.userId,
      key_id: data.keyId,
      payer_id: data.payerId,
      requested: data.requested,
      content_type: null,
      status: 'pending',
      open: true,
      prompt: data.prompt,
      input: data.input,
      provider_version: data.providerVersion,
      provider_prediction_id: null,
      output_url: null,
      hash: null,
      media_type: null,
      error_message: null,
      processing_time_ms: null,
      charge: 0,
      reserved: data.reserved,
      retry_count: 0,
      max_retries: data.maxRetries,
      created_at: metadata.at,
      started_at: null,
      completed_at: null,
    }),
  },
  changes: {
    ContentStarted: (view, { metadata }) => ({
      ...view,
      status: 'processing',
      provider_prediction_id: null,
      started_at: metadata.at,
    }),
    ContentSubmitted: (view, { data }) => ({ ...view, provider_prediction_id: data.predictionId }),
    ContentCompleted: ({ open: _, ...view }, { data, metadata }) => ({
      ...view,
      status: 'completed',
      content_type: data.contentType,
      output_url: data.outputUrl,
      hash: data.hash,
      media_type: data.mediaType,
      processing_time_ms: data.processingTimeMs,
      charge: view.charge + data.charge,
      error_message: null,
      completed_at: metadata.at,
    }),
    ContentFailed: ({ open: _, ...view }, { data, metadata }) => ({
      ...view,
      status: 'failed',
      error_message: data.errorMessage,
      processing_time_ms: data.processingTimeMs,
      completed_at: metadata.at,
    }),
    ContentRetryQueued: (view, { data }) => ({
      ...view,
      status: 'pending',
      open: true,
      payer_id: data.payerId,
      error_message: null,
      processing_time_ms: null,
      retry_count: data.attempt,
      started_at: null,
      completed_at: null,
    }),
  },
}
