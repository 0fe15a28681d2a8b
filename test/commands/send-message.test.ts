import t from 'tap'
import { sessionStream } from '../../src/domain/session/session.ts'
import { commanding, typesOf } from '../support/commanding.ts'
import { call, platformCall } from '../support/recorded.ts'
import { message, runCompleted, runFailed } from '../support/run-events.ts'

const {
  sendMessage,
  endRun,
  eraseSession,
  grantCredits,
  appended,
  appendedOnce,
  load,
  organization,
  credited,
  node,
} = await commanding(t)
await credited()

t.test('credits are held back, then the message and its run are stored', async (t) => {
  const events = await appendedOnce(t, (by) => sendMessage(message(), by), call)
  t.strictSame(typesOf(events), [
    'CreditsReserved',
    'SessionCreated',
    'UserMessageSent',
    'RunStarted',
  ])
  t.match(events[0], { data: { runId: 'run-1', amount: 100 }, stream: 'account-user-1' })
  t.match(events[3], { data: { runId: 'run-1', messageId: 'message-1', node: 'node-1' } })
})

t.test('a message whose answer stands begins no other run', async (t) => {
  const command = { sessionId: 'answered', messageId: 'm', runId: 'run-2' }
  await sendMessage(message(command), call)
  const end = { sessionId: 'answered', payerId: 'user-1', steps: [], end: runCompleted('run-2', 5) }
  await endRun(end, call)
  let sent: unknown
  const events = await appended(async () => {
    sent = await sendMessage(message({ ...command, runId: 'run-3' }), call)
  })
  t.match(sent, { begun: false, runId: 'run-2' })
  t.strictSame(typesOf(events), ['CreditsReserved', 'ReservationReleased'])
})

t.test('one whose run failed is answered anew', async (t) => {
  const command = { sessionId: 'failing', messageId: 'm', runId: 'run-4' }
  await sendMessage(message(command), call)
  const end = { sessionId: 'failing', payerId: 'user-1', steps: [], end: runFailed('run-4') }
  await endRun(end, call)
  t.match(await sendMessage(message({ ...command, runId: 'run-5' }), call), {
    begun: true,
    runId: 'run-5',
  })
})

t.test('refusals, and what was held back is given back', async (t) => {
  const theirs = message({
    runId: 'run-6',
    viewer: { userId: 'user-2', onlyKeyId: null },
    sessionId: 'failing',
  })
  const events = await appended(() =>
    t.rejects(sendMessage(theirs, call), { code: 'session_not_found' }),
  )
  t.strictSame(typesOf(events), ['CreditsReserved', 'ReservationReleased'])
  const elsewhere = message({ runId: 'run-7', messageId: 'm-7', node: 'node-2' })
  await t.rejects(sendMessage(elsewhere, call), { code: 'session_busy' })
  await eraseSession({ sessionId: 'answered', userId: 'user-1' }, call)
  await t.rejects(sendMessage(message({ sessionId: 'answered', runId: 'run-8' }), call), {
    code: 'session_not_found',
  })
  const { ownerId: payerId } = await organization()
  await grantCredits({ userId: payerId, amount: -1, reason: 'debt' }, call)
  const poor = message({ sessionId: 'poor', runId: 'run-9', payerId })
  const none = await appended(() =>
    t.rejects(sendMessage(poor, call), { code: 'insufficient_credits' }),
  )
  t.strictSame(none, [])
  t.match(await load(sessionStream('org-1', 'poor')), { state: { status: 'unknown' } })
})

t.test('of two processes that spend the last credits, one begins nothing', async (t) => {
  const reserve = 1_200_000
  const [first, second] = [node(), node()]
  const small = message({ sessionId: 'small', runId: 'run-small', messageId: 'small' })
  await first.sendMessage(small, call)
  await second.sendMessage(
    message({ sessionId: 'b', runId: 'run-b', messageId: 'b', reserve }),
    call,
  )
  const late = message({ sessionId: 'a', runId: 'run-a', messageId: 'a', reserve })
  await t.rejects(first.sendMessage(late, call), { code: 'insufficient_credits' })
  t.match((await load(sessionStream('org-1', 'a'))).state, { status: 'unknown', running: null })
})

t.test(
  'a message that is sent again has its answer, also once the credits are used up',
  async (t) => {
    const { ownerId: payerId } = await organization()
    await grantCredits({ userId: payerId, amount: 1, reason: 'test' }, platformCall)
    const sent = message({ sessionId: 'last', runId: 'run-last', messageId: 'last', payerId })
    await sendMessage(sent, call)
    const end = { sessionId: 'last', payerId, steps: [] }
    await endRun({ ...end, end: runCompleted('run-last', 3_000_000) }, call)
    const again = (change: object) => sendMessage({ ...sent, runId: 'run-again', ...change }, call)
    t.match(await again({}), { begun: false, runId: 'run-last' })
    const used = { code: 'insufficient_credits' }
    await t.rejects(again({ messageId: 'next' }), used)
    await t.rejects(again({ viewer: { userId: 'user-2', onlyKeyId: null } }), used)
  },
)
