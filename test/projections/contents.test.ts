import t from 'tap'
import { contents } from '../../projections/contents.ts'
import { contentEvents } from '../../src/domain/content/events.ts'
import { sampleOf } from '../support/events.ts'
import { handlesAll, projecting } from '../support/given.ts'

const at = '2026-01-01T00:00:00.000Z'
const later = '2026-01-02T00:00:00.000Z'
const latest = '2026-01-03T00:00:00.000Z'

const requested = sampleOf(contentEvents, 'ContentRequested', { userId: 'user-1', keyId: 'key-1' })
const started = { ...sampleOf(contentEvents, 'ContentStarted'), at: later }
const submitted = sampleOf(contentEvents, 'ContentSubmitted')
const completed = { ...sampleOf(contentEvents, 'ContentCompleted'), at: latest }
const failed = { ...sampleOf(contentEvents, 'ContentFailed'), at: latest }
const erased = sampleOf(contentEvents, 'ContentErased')
const queued = sampleOf(contentEvents, 'ContentRetryQueued', { payerId: 'user-2' })

t.test('contents', async (t) => {
  const seen = projecting(t, contents, 'content-org-1_content-1')
  seen(requested).shows(
    {
      id: 'content-1',
      organization_id: 'org-1',
      user_id: 'user-1',
      session_id: requested.data.prompt.$sealed.split('/')[1] ?? '',
      key_id: 'key-1',
      requested: 'image',
      content_type: null,
      status: 'pending',
      open: true,
      prompt: requested.data.prompt,
      charge: 0,
      reserved: 40_000,
      retry_count: 0,
      created_at: at,
      started_at: null,
      completed_at: null,
    },
    'content-1',
  )
  const named = sampleOf(contentEvents, 'ContentRequested', { sessionId: 'session/2' })
  seen(named).shows({ session_id: 'session/2' })
  seen(requested, started, submitted).shows({
    status: 'processing',
    open: true,
    started_at: later,
    provider_prediction_id: submitted.data.predictionId,
  })
  seen(requested, started, submitted, completed).shows({
    status: 'completed',
    open: undefined,
    content_type: 'image',
    hash: completed.data.hash,
    media_type: 'image/svg+xml',
    processing_time_ms: 12,
    charge: 40_000,
    error_message: null,
    completed_at: latest,
  })
})

t.test(
  'a failed item may be queued again, and is charged to the user who retries it',
  async (t) => {
    const seen = projecting(t, contents, 'content-org-1_content-1')
    seen(requested, started, failed).shows({
      status: 'failed',
      open: undefined,
      error_message: 'no video provider configured',
      processing_time_ms: 3,
      charge: 0,
      completed_at: latest,
    })
    seen(requested, started, failed, queued).shows({
      status: 'pending',
      open: true,
      payer_id: 'user-2',
      error_message: null,
      processing_time_ms: null,
      retry_count: 1,
      started_at: null,
      completed_at: null,
    })
    seen(requested, started, submitted, failed, queued, started).shows({
      status: 'processing',
      provider_prediction_id: null,
    })
  },
)

t.test('an erased item is removed', async (t) => {
  const seen = projecting(t, contents, 'content-org-1_content-1')
  seen(requested, started, erased).showsNothing('content-1')
})

t.test('every event it handles was given', async (t) => handlesAll(t, contents))
