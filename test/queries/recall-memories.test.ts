import t, { type Test } from 'tap'
import { recallMemories } from '../../queries/recall-memories.ts'
import { memoryKey } from '../../src/security/vault.ts'
import { commanded } from '../support/commanded.ts'
import { call } from '../support/recorded.ts'

const elsewhere = { ...call, organizationId: 'org-2' }

const remembering = async (t: Test) => {
  const host = await commanded(t)
  const recall = recallMemories({ ...host.read, open: host.vault.open })
  return {
    ...host,
    recall: (query: string, more = {}) =>
      recall({ organizationId: 'org-1', userId: 'user-1', query, limit: 3, ...more }),
  }
}

t.test('the best match is recalled first, then the newest', async (t) => {
  const { remember, recall, seen } = await remembering(t)
  for (const text of ['My dog is called Rex', 'I like tea', 'I live in Lyon', 'I am left-handed'])
    await remember({ userId: 'user-1', text }, call)
  await seen()
  t.strictSame(await recall('name of the dog'), [
    'My dog is called Rex',
    'I am left-handed',
    'I live in Lyon',
  ])
  t.strictSame(await recall(''), ['I am left-handed', 'I live in Lyon', 'I like tea'])
})

t.test('the same is remembered once', async (t) => {
  const { remember, recall, seen } = await remembering(t)
  t.match(await remember({ userId: 'user-1', text: 'I like tea' }, call), { stored: true })
  t.match(await remember({ userId: 'user-1', text: ' I  like TEA ' }, call), { stored: false })
  await seen()
  t.strictSame(await recall('tea'), ['I like tea'])
})

t.test('memories are of one user in one organization', async (t) => {
  const { remember, recall, seen } = await remembering(t)
  await remember({ userId: 'user-1', text: 'tea in one' }, call)
  await remember({ userId: 'user-2', text: 'tea of another' }, call)
  await remember({ userId: 'user-1', text: 'tea elsewhere' }, elsewhere)
  await seen()
  t.strictSame(await recall('tea'), ['tea in one'])
  t.strictSame(await recall('tea', { userId: 'user-2' }), ['tea of another'])
  t.strictSame(await recall('tea', { organizationId: 'org-2' }), ['tea elsewhere'])
  t.strictSame(await recall('tea', { organizationId: 'org-3' }), [])
})

t.test('an erased memory is gone, and only that', async (t) => {
  const { remember, recall, seen, vault } = await remembering(t)
  await remember({ userId: 'user-1', text: 'tea in one' }, call)
  await remember({ userId: 'user-1', text: 'tea elsewhere' }, elsewhere)
  await seen()
  await vault.destroy(memoryKey('org-1', 'user-1'))
  t.strictSame(await recall('tea'), [])
  t.strictSame(await recall('tea', { organizationId: 'org-2' }), ['tea elsewhere'])
  await t.rejects(remember({ userId: 'user-1', text: 'more' }, call), { name: 'KeyDestroyed' })
})
