import t from 'tap'
import { commanding, typesOf } from '../support/commanding.ts'
import { completedWith, contentRequest, failedWith } from '../support/content-request.ts'
import { call } from '../support/recorded.ts'

const { requestContent, startContent, finishContent, appended, appendedOnce, credited } =
  await commanding(t)
await credited()

const started = async (contentId: string) => {
  await requestContent(contentRequest(contentId), call)
  await startContent({ contentId }, call)
  return { contentId, attempt: 0, payerId: 'user-1' }
}

t.test('a completed item is charged, once', async (t) => {
  const command = { ...(await started('c-1')), end: completedWith(70) }
  const events = await appendedOnce(t, (by) => finishContent(command, by), call)
  t.strictSame(typesOf(events), ['ContentCompleted', 'CreditsSettled'])
  t.match(events[1], { data: { runId: 'content:c-1:0', amount: 70 } })
})

t.test('what failed costs nothing', async (t) => {
  const command = { ...(await started('c-2')), end: failedWith }
  const events = await appendedOnce(t, (by) => finishContent(command, by), call)
  t.strictSame(typesOf(events), ['ContentFailed', 'ReservationReleased'])
})

t.test('the first end counts', async (t) => {
  const content = await started('c-3')
  await finishContent({ ...content, end: failedWith }, call)
  const late = { ...content, end: completedWith(70) }
  t.strictSame(await appended(() => finishContent(late, call)), [])
})
