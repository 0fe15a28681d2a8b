import t from 'tap'
import { memoryKey } from '../../src/security/vault.ts'
import { commanding, typesOf } from '../support/commanding.ts'
import { call } from '../support/recorded.ts'

const { remember, vault, appended, appendedOnce } = await commanding(t)

t.test('a text is stored sealed', async (t) => {
  const command = { userId: 'user-1', text: 'My dog is called Rex' }
  const events = await appendedOnce(t, (by) => remember(command, by), call)
  t.match(events, [{ type: 'MemoryRemembered', stream: 'memory-org-1_user-1' }])
  t.notMatch(JSON.stringify(events), /Rex/)
})

t.test('the same but for case and white space is remembered once', async (t) => {
  t.match(await remember({ userId: 'user-2', text: 'I like tea' }, call), { stored: true })
  const again = { userId: 'user-2', text: ' I  like TEA ' }
  const events = await appended(async () => t.match(await remember(again, call), { stored: false }))
  t.strictSame(events, [])
  const elsewhere = { ...call, organizationId: 'org-2' }
  const elsewhereEvents = await appended(() => remember(again, elsewhere))
  t.strictSame(typesOf(elsewhereEvents), ['MemoryRemembered'])
})

t.test("nothing more once a user's memory is erased", async (t) => {
  await remember({ userId: 'user-3', text: 'I like tea' }, call)
  await vault.destroy(memoryKey('org-1', 'user-3'))
  const events = await appended(() =>
    t.rejects(remember({ userId: 'user-3', text: 'more' }, call), { name: 'KeyDestroyed' }),
  )
  t.strictSame(events, [])
})
