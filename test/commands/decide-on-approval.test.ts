import t from 'tap'
import { commanding, typesOf } from '../support/commanding.ts'
import { pauseForApproval } from '../support/paused-run.ts'
import { call } from '../support/recorded.ts'

const commands = await commanding(t)
const { appendedOnce, appended, decideOnApproval } = commands
await commands.credited()
const pausing = pauseForApproval(commands)

t.test('an approval is stored with its reason sealed, and the run can go on', async (t) => {
  await pausing('s-1', 'run-1')
  const decision = {
    sessionId: 's-1',
    approvalId: 'approval of run-1',
    decision: 'approve' as const,
    argumentsDigest: 'digest',
    by: 'user-1',
    reason: 'Fine',
  }
  const wrong = { ...decision, argumentsDigest: 'another' }
  const none = await appended(() =>
    t.rejects(decideOnApproval(wrong, call), { code: 'arguments_changed' }),
  )
  t.strictSame(none, [])
  const events = await appendedOnce(t, (by) => decideOnApproval(decision, by), call)
  t.strictSame(typesOf(events), ['ApprovalDecided'])
  t.match(events[0]?.data, { decision: 'approve', by: 'user-1', reason: { box: String } })
  t.notMatch(JSON.stringify(events), 'Fine')
  await pausing('s-2', 'run-2')
  const second = { ...decision, sessionId: 's-2', approvalId: 'approval of run-2' }
  const { reason: _, ...silent } = { ...second, reason: undefined }
  const result = await decideOnApproval({ ...silent, reason: undefined }, call)
  t.equal(result.goesOn, true)
})

t.test('of two decisions at once one is made', async (t) => {
  await pausing('s-3', 'run-3')
  const decision = {
    sessionId: 's-3',
    approvalId: 'approval of run-3',
    argumentsDigest: 'digest',
    by: 'user-1',
    reason: undefined,
  }
  const events = await appended(async () => {
    const both = await Promise.allSettled([
      decideOnApproval({ ...decision, decision: 'approve' }, call),
      decideOnApproval({ ...decision, decision: 'deny' }, call),
    ])
    t.match(both, [
      { status: 'fulfilled', value: { goesOn: true } },
      { status: 'rejected', reason: { code: 'approval_decided' } },
    ])
  })
  t.strictSame(typesOf(events), ['ApprovalDecided'])
})
