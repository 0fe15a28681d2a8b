import t from 'tap'
import { memoryStream } from '../../src/domain/memory/memory.ts'
import { memoryKey } from '../../src/security/vault.ts'
import { commanding } from '../support/commanding.ts'
import { call } from '../support/recorded.ts'

const { eraseMemories, remember, vault, load, appended, appendedOnce } = await commanding(t)
const like = (userId: string, text: string) => remember({ userId, text }, call)

t.test('the key is destroyed, and the event says which', async (t) => {
  await like('user-1', 'I like tea')
  const { memories } = (await load(memoryStream('org-1', 'user-1'))).state
  const events = await appendedOnce(t, (by) => eraseMemories({ userId: 'user-1' }, by), call)
  t.match(events, [
    {
      type: 'MemoriesErased',
      stream: 'memory-org-1_user-1',
      data: { memories: 1, keyIds: [memoryKey('org-1', 'user-1')] },
    },
  ])
  const [first] = memories
  t.equal(first && (await vault.open(first.text)), undefined)
})

t.test('an erasure that a crash cut short is completed', async (t) => {
  await like('user-2', 'I like tea')
  await vault.destroy(memoryKey('org-1', 'user-2'))
  const { erased } = await eraseMemories({ userId: 'user-2' }, call)
  t.match(erased, { memories: 1 })
  const later = { ...call, at: '2999-01-01T00:00:00.000Z' }
  t.match(await remember({ userId: 'user-2', text: 'I like coffee' }, later), { stored: true })
})

t.test('nothing where nothing is remembered', async (t) => {
  const events = await appended(() => eraseMemories({ userId: 'user-3' }, call))
  t.strictSame(events, [])
})

t.test('of two erasures at once, one is recorded', async (t) => {
  await like('user-4', 'I like tea')
  const erase = () => eraseMemories({ userId: 'user-4' }, call)
  const events = await appended(() => Promise.all([erase(), erase()]))
  t.equal(events.length, 1)
})

t.test('a turn that began before remembers nothing more', async (t) => {
  await like('user-5', 'I like tea')
  await eraseMemories({ userId: 'user-5' }, call)
  const again = { userId: 'user-5', text: 'I like tea', turnBeganAt: call.at }
  t.match(await remember(again, { ...call, at: '2999-01-01T00:00:00.000Z' }), {
    stored: false,
    isErased: true,
  })
})
