import t from 'tap'
import {
  content,
  decideErase,
  decideFinish,
  decideRequest,
  decideRetry,
  decideStart,
  decideSubmit,
} from '../../../src/domain/content/content.ts'
import type { ContentEvent } from '../../../src/domain/content/events.ts'
import { reservationOf, reservedContentOf } from '../../../src/domain/content/reservation.ts'
import { deciding } from '../../support/given.ts'

const sealed = { $sealed: 'session:org-1/s-1', box: 'AA==' }
const request: ContentEvent<'ContentRequested'>['data'] = {
  userId: 'user-1',
  keyId: 'key-1',
  payerId: 'user-1',
  requested: 'image',
  prompt: sealed,
  input: sealed,
  providerVersion: 'offline/image-1',
  maxRetries: 1,
  reserved: 40_000,
}
const completion: ContentEvent<'ContentCompleted'>['data'] = {
  contentType: 'image',
  outputUrl: null,
  hash: 'h',
  size: 1,
  mediaType: 'image/svg+xml',
  processingTimeMs: 2,
  charge: 40_000,
}
const requested: ContentEvent = { type: 'ContentRequested', data: request }
const started = (attempt = 0): ContentEvent => ({ type: 'ContentStarted', data: { attempt } })
const submitted: ContentEvent = { type: 'ContentSubmitted', data: { predictionId: 'p' } }
const completed: ContentEvent = { type: 'ContentCompleted', data: completion }
const failure = { errorMessage: 'timed out', processingTimeMs: 3 }
const failed: ContentEvent = { type: 'ContentFailed', data: failure }
const queued: ContentEvent = {
  type: 'ContentRetryQueued',
  data: { attempt: 1, maxRetries: 1, payerId: 'user-2' },
}
const erased: ContentEvent = { type: 'ContentErased', data: { sessionId: 's-1' } }
const owner = { userId: 'user-1', onlyKeyId: null }

t.test('making content', async (t) => {
  const given = deciding(t, content)
  given().when(decideRequest(request)).emitsOnce(requested)
  given(requested).when(decideStart).emitsOnce(started())
  given(requested, started()).when(decideSubmit('p')).emitsOnce(submitted)
  const done = decideFinish(0, { completed: completion })
  given(requested, started(), submitted).when(done).emitsOnce(completed)
  const lost = decideFinish(0, { failed: failure })
  given(requested, started()).when(lost).emitsOnce(failed)
  given(requested, started(), completed).when(lost).changesNothing()
  given(requested).when(done).changesNothing()
  given(requested, started(), failed, queued, started(1)).when(done).changesNothing()
})

t.test('retrying content', async (t) => {
  const given = deciding(t, content)
  const retry = decideRetry(owner, 'user-2')
  given(requested, started(), failed).when(retry).emitsOnce(queued)
  given(requested, started(), failed, queued).when(retry).refuses('content_not_failed')
  given(requested, started(), failed, queued, started(1), failed)
    .when(retry)
    .refuses('max_retries_reached')
  given(requested, started(), completed).when(retry).refuses('content_not_failed')
  given().when(retry).refuses('content_not_found')
  const stranger = decideRetry({ userId: 'user-9', onlyKeyId: null }, 'user-9')
  given(requested, started(), failed).when(stranger).refuses('content_not_found')
  const otherKey = decideRetry({ userId: 'user-1', onlyKeyId: 'key-2' }, 'user-1')
  given(requested, started(), failed).when(otherKey).refuses('content_not_found')
})

t.test('erasing content', async (t) => {
  const given = deciding(t, content)
  const erase = decideErase('s-1')
  for (const before of [[], [started()], [started(), completed], [started(), failed]])
    given(requested, ...before)
      .when(erase)
      .emitsOnce(erased)
  given().when(erase).changesNothing()
  const done = decideFinish(0, { completed: completion })
  given(requested, started(), erased).when(done).changesNothing()
  given(requested, erased).when(decideStart).changesNothing()
  const retry = decideRetry(owner, 'user-2')
  given(requested, started(), failed, erased).when(retry).refuses('content_not_found')
})

t.test('a reservation names its item', async (t) => {
  t.equal(reservedContentOf(reservationOf('0198', 12)), '0198')
  t.equal(reservedContentOf('0198'), undefined)
})
