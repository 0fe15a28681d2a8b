import { z } from 'zod'
import { saturate } from '../src/domain/amounts.ts'
import { contentEvents, requestSession } from '../src/domain/content/events.ts'
import { sealed } from '../src/domain/sealed.ts'
import {
  count,
  credits,
  flag,
  inCredits,
  incomplete,
  listPosition,
  micro,
  opened,
  text,
  timestamp,
} from './fields.ts'
import { idIn, projection } from './projection.ts'

/** A generated content item; prompt and input stay sealed, amounts are micro-credits. */
export const contentView = z.object({
  id: text,
  organization_id: text,
  user_id: text,
  /** In which it was requested; its data key seals prompt, input and file. */
  session_id: text,
  /** The run that requested it; not in documents from before it was kept. */
  run_id: text.optional(),
  key_id: text.nullable(),
  payer_id: text,
  requested: contentEvents.ContentRequested.shape.requested,
  /** Null until generation completes. */
  content_type: contentEvents.ContentCompleted.shape.contentType.nullable(),
  status: z.enum(['pending', 'processing', 'completed', 'failed']),
  /** Only while it is not over. */
  open: flag,
  prompt: sealed,
  input: sealed,
  provider_version: text,
  provider_prediction_id: text.nullable(),
  output_url: text.nullable(),
  hash: text.nullable(),
  media_type: text.nullable(),
  error_message: text.nullable(),
  processing_time_ms: z.int().nullable(),
  charge: micro,
  reserved: micro,
  retry_count: count,
  max_retries: count,
  created_at: timestamp,
  started_at: timestamp.nullable(),
  completed_at: timestamp.nullable(),
  /** Position of its request. */
  position: listPosition,
  incomplete,
})
export type ContentView = z.infer<typeof contentView>

const owner = ['organization_id', 'user_id']
const byKey = [...owner, 'key_id']
const newest = (equals: readonly string[]) => ({ equals, orderBy: 'position' })

export const contents = projection<ContentView, typeof contentEvents>()({
  name: 'contents',
  schema: contentView,
  version: 2,
  shown: {
    schema: contentView
      .omit({ open: true, position: true })
      .extend({ prompt: opened, input: opened, charge: credits, reserved: credits }),
    document: ({ open: _, position: __, ...view }) => ({
      ...view,
      charge: inCredits(view.charge),
      reserved: inCredits(view.reserved),
    }),
  },
  categories: ['content'],
  events: contentEvents,
  indexes: {
    open: { equals: ['open'], orderBy: 'created_at' },
    by_session: { equals: ['organization_id', 'session_id'] },
    by_run: { equals: ['organization_id', 'run_id'], orderBy: 'position', totals: false },
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
    ContentRequested: ({ stream, metadata, data, position }) => ({
      id: idIn(stream),
      organization_id: metadata.organization_id,
      user_id: data.userId,
      session_id: requestSession(data),
      ...(data.runId === undefined ? {} : { run_id: data.runId }),
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
      position,
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
      charge: saturate(view.charge + data.charge),
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
  removes: ['ContentErased'],
  ignores: {},
})
