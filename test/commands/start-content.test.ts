import t from 'tap'
import { offlineContentProvider } from '../../src/adapters/generation/offline-provider.ts'
import { accountStream, effectiveBalance } from '../../src/domain/account/account.ts'
import { contentStream, decideRetry } from '../../src/domain/content/content.ts'
import { contentGeneration } from '../../src/tools/request-content.ts'
import { commanding } from '../support/commanding.ts'
import { contentRequest } from '../support/content-request.ts'
import { call } from '../support/recorded.ts'

const all = await commanding(t)
const { requestContent, startContent, reserveContentCredits, submitContent, finishContent } = all
const { appended, appendedOnce, load, transact } = all

const accountOf = async () => {
  const { state } = await load(accountStream('user-1'))
  const { balance } = state
  return { balance, held: balance - effectiveBalance(state) }
}

t.test('a retry that a crash cut short is held and charged like any other', async (t) => {
  const generation = contentGeneration({ ...all, provider: offlineContentProvider() })
  const fox = { prompt: 'A fox', contentType: 'image', sessionId: 's-1', runId: 'run-1' } as const
  const { id } = await generation.request(fox, call)
  t.strictSame(await accountOf(), { balance: 0, held: 40_000 })
  const first = await startContent({ contentId: id }, call)
  t.match(first, { attempt: 0, payerId: 'user-1', predictionId: null, reserved: 40_000 })
  await submitContent({ contentId: id, predictionId: 'p-1' }, call)
  t.match(
    await startContent({ contentId: id }, call),
    { predictionId: 'p-1' },
    'taken up where it was left',
  )
  const failed = { errorMessage: 'no', processingTimeMs: 1 }
  await finishContent({ contentId: id, attempt: 0, payerId: 'user-1', end: { failed } }, call)
  t.strictSame(await accountOf(), { balance: 0, held: 0 })
  t.equal(await startContent({ contentId: id }, call), undefined, 'it is over')

  const viewer = { userId: 'user-1', onlyKeyId: null }
  await transact(contentStream('org-1', id), decideRetry(viewer, 'user-1'), call)
  const second = await startContent({ contentId: id }, call)
  t.match(second, { attempt: 1, predictionId: null })
  if (!second) return
  await reserveContentCredits({ contentId: id, ...second }, call)
  await reserveContentCredits({ contentId: id, ...second }, call)
  t.strictSame(await accountOf(), { balance: 0, held: 40_000 })
  const completed = {
    contentType: 'image',
    outputUrl: null,
    hash: 'h',
    size: 1,
    mediaType: 'image/png',
    processingTimeMs: 1,
    charge: 40_000,
  } as const
  const end = { contentId: id, attempt: 1, payerId: 'user-1', end: { completed } }
  await finishContent(end, call)
  await finishContent(end, call)
  t.strictSame(await accountOf(), { balance: -40_000, held: 0 })
})

t.test('each step is stored once', async (t) => {
  const payerId = 'user-2'
  await requestContent(contentRequest('c-1', { payerId }), call)
  const take = await appendedOnce(t, (by) => startContent({ contentId: 'c-1' }, by), call)
  t.match(take, [{ type: 'ContentStarted', data: { attempt: 0 } }])
  const submit = await appendedOnce(
    t,
    (by) => submitContent({ contentId: 'c-1', predictionId: 'p-1' }, by),
    call,
  )
  t.match(submit, [{ type: 'ContentSubmitted', data: { predictionId: 'p-1' } }])
  const reservation = { attempt: 0, payerId, predictionId: null, reserved: 100 }
  const held = () => reserveContentCredits({ contentId: 'c-1', ...reservation }, call)
  t.strictSame(await appended(held), [], 'its credits were held when it was asked for')
})
