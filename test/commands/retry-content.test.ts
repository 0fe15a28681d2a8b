import t from 'tap'
import { commanding, typesOf } from '../support/commanding.ts'
import { contentRequest, failedWith } from '../support/content-request.ts'
import { call } from '../support/recorded.ts'

const { requestContent, startContent, finishContent, retryContent, appended, appendedOnce, store } =
  await commanding(t)
const viewer = { userId: 'user-1', onlyKeyId: null }

const failing = async (contentId: string, attempt = 0) => {
  await startContent({ contentId }, call)
  await finishContent({ contentId, attempt, payerId: 'user-1', end: failedWith }, call)
}

t.test('a failed item is queued again, for whoever asks for it', async (t) => {
  await requestContent(contentRequest('c-1'), call)
  await failing('c-1')
  const command = { contentId: 'c-1', viewer, payerId: 'user-2' }
  const events = await appendedOnce(t, (by) => retryContent(command, by), call)
  t.strictSame(typesOf(events), ['ContentRetryQueued', 'CreditsReserved'])
  t.match(events[0], { data: { attempt: 1, maxRetries: 3, payerId: 'user-2' } })
  t.match(events[1], {
    data: { runId: 'content:c-1:1', amount: 100 },
    stream: 'account-user-2',
  })
})

t.test('refusals', async (t) => {
  await requestContent(contentRequest('c-2', { maxRetries: 1 }), call)
  const command = { contentId: 'c-2', viewer, payerId: 'user-1' }
  const refused = (code: string, more: Partial<typeof command> = {}) =>
    t.rejects(retryContent({ ...command, ...more }, call), { code })
  const events = await appended(async () => {
    await refused('content_not_failed')
    await refused('content_not_found', { contentId: 'none' })
    await refused('content_not_found', { viewer: { userId: 'user-2', onlyKeyId: null } })
  })
  t.strictSame(events, [])
  await failing('c-2')
  const { position } = await retryContent(command, call)
  t.equal(position, await store.head(), 'a wait for it sees the reservation too')
  await failing('c-2', 1)
  await refused('max_retries_reached')
})
