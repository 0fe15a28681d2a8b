import t from 'tap'
import { sessionKey } from '../../src/security/vault.ts'
import { commanding, typesOf } from '../support/commanding.ts'
import { call } from '../support/recorded.ts'
import { message, runFailed } from '../support/run-events.ts'

const { eraseSession, endRun, sendMessage, vault, appended, appendedOnce, credited } =
  await commanding(t)
await credited()

t.test('its texts can be read nowhere again', async (t) => {
  const key = sessionKey('org-1', 'session-1')
  const text = await vault.seal(key, 'a secret')
  await sendMessage(message({ seal: async () => ({ content: text }) }), call)
  const end = { sessionId: 'session-1', payerId: 'user-1', steps: [], end: runFailed('run-1') }
  await endRun(end, call)
  const command = { sessionId: 'session-1', userId: 'user-1' }
  const events = await appendedOnce(t, (by) => eraseSession(command, by), call)
  const data = { deletedBy: 'user-1', sessionOwner: 'user-1', delegated: false }
  t.match(events, [{ type: 'SessionErased', data }])
  t.equal(await vault.open(text), undefined)
})

t.test(
  'a crash after the key is destroyed does not prevent erasing the session again',
  async (t) => {
    const key = sessionKey('org-1', 'whole')
    const text = await vault.seal(key, 'a secret')
    await sendMessage(message({ sessionId: 'whole', runId: 'run-0' }), call)
    const command = { sessionId: 'whole', userId: 'user-1' }
    const failing = eraseSession(command, call, async () => {
      t.equal(await vault.open(text), undefined, 'the key is gone')
      throw new RangeError('cut')
    })
    await t.rejects(failing, RangeError)
    const events = await appended(() => eraseSession(command, call))
    t.strictSame(typesOf(events), ['RunCancelled', 'SessionErased'], 'asked for again')
  },
)

t.test('a run that is under way ends', async (t) => {
  await sendMessage(message({ sessionId: 'busy', runId: 'run-2' }), call)
  const command = { sessionId: 'busy', userId: 'user-1' }
  const events = await appendedOnce(t, (by) => eraseSession(command, { ...by, userId: 'b' }), call)
  t.strictSame(typesOf(events), ['RunCancelled', 'SessionErased'])
  t.match(events[1], { data: { deletedBy: 'b', delegated: true } })
})

t.test('a session of somebody else is not found, and keeps its key', async (t) => {
  const text = await vault.seal(sessionKey('org-1', 'kept'), 'kept')
  await sendMessage(message({ sessionId: 'kept', runId: 'run-3' }), call)
  const events = await appended(async () => {
    for (const [sessionId, userId] of [
      ['kept', 'user-2'],
      ['none', 'user-1'],
    ] as const)
      await t.rejects(eraseSession({ sessionId, userId }, call), { code: 'session_not_found' })
  })
  t.strictSame(events, [])
  t.equal(await vault.open(text), 'kept')
})
