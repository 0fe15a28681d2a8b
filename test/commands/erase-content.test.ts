import t from 'tap'
import { commanding, typesOf } from '../support/commanding.ts'
import { completedWith, contentRequest } from '../support/content-request.ts'
import { call } from '../support/recorded.ts'

const all = await commanding(t)
const { requestContent, startContent, finishContent, eraseContent, appended, appendedOnce } = all
await all.credited()

const started = async (contentId: string) => {
  await requestContent(contentRequest(contentId), call)
  await startContent({ contentId }, call)
  return { contentId, attempt: 0, payerId: 'user-1', end: completedWith(70) }
}

t.test('an item is erased once, and says which file goes with it', async (t) => {
  const command = await started('c-1')
  t.match(await finishContent(command, call), { erased: false })
  const erase = { contentId: 'c-1', sessionId: 's-1' }
  const events = await appendedOnce(t, (by) => eraseContent(erase, by), call)
  t.match(events, [{ type: 'ContentErased', data: { sessionId: 's-1' } }])
  t.match(await eraseContent(erase, call), { hash: command.end.completed.hash })
})

t.test('an item whose session is erased during its generation is not completed', async (t) => {
  const command = await started('c-2')
  t.match(await eraseContent({ contentId: 'c-2', sessionId: 's-1' }, call), { hash: null })
  const events = await appended(async () => {
    t.match(await finishContent(command, call), { erased: true })
  })
  t.strictSame(typesOf(events), ['CreditsSettled'])
})

t.test('an item that there is not', async (t) => {
  const erase = { contentId: 'none', sessionId: 's-1' }
  t.strictSame(await appended(() => eraseContent(erase, call)), [])
})
