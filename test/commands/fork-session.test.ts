import t from 'tap'
import { sessionEvents } from '../../src/domain/session/events.ts'
import { commanding, typesOf } from '../support/commanding.ts'
import { sampleOf } from '../support/events.ts'
import { call } from '../support/recorded.ts'

const { forkSession, appended, appendedOnce } = await commanding(t)

const { data: message } = sampleOf(sessionEvents, 'MessageForked')

const command = (sessionId: string, at = 0) => ({
  sessionId,
  isNew: false,
  fork: { forkId: `fork of ${sessionId}`, forkedFrom: 'source', after: 'message-2', messages: 2 },
  viewer: { userId: 'user-1', onlyKeyId: null },
  keyId: 'key-1',
  hidden: false,
  node: 'node-1',
  at,
  messages: [message],
})

t.test('a fork in two pieces, each of them once', async (t) => {
  const first = await appendedOnce(t, (by) => forkSession(command('half'), by), call)
  t.strictSame(typesOf(first), ['ForkBegun', 'MessageForked'])
  const second = await appendedOnce(t, (by) => forkSession(command('half', 1), by), call)
  t.strictSame(typesOf(second), ['MessageForked', 'SessionForked'])
})

t.test('an id that is taken', async (t) => {
  const other = { ...command('half'), fork: { ...command('half').fork, forkId: 'another' } }
  const events = await appended(() =>
    t.rejects(forkSession(other, call), { code: 'session_exists' }),
  )
  t.strictSame(events, [])
})
