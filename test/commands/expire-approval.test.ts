import t from 'tap'
import { commanding, typesOf } from '../support/commanding.ts'
import { expiresAt, pauseForApproval } from '../support/paused-run.ts'
import { call } from '../support/recorded.ts'

const commands = await commanding(t)
await commands.credited()

t.test('an approval that nobody decided in time is denied, and its run can resume', async (t) => {
  await pauseForApproval(commands)('s-1', 'run-1')
  const late = { sessionId: 's-1', approvalId: 'approval of run-1' }
  const early = await commands.expireApproval(late, call)
  t.match(early, { expired: false, goesOn: false })
  const by = { ...call, at: expiresAt }
  const events = await commands.appendedOnce(t, (by) => commands.expireApproval(late, by), by)
  t.strictSame(typesOf(events), ['ApprovalExpired'])
  t.match(await commands.expireApproval(late, by), { expired: false, goesOn: true })
})
