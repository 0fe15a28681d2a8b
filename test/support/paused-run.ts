import type { commanding } from './commanding.ts'
import { call } from './recorded.ts'
import { message } from './run-events.ts'
import { sessionEvent } from './session-events.ts'

type Commands = Pick<Awaited<ReturnType<typeof commanding>>, 'sendMessage' | 'pauseRun'>

/** When the approvals below are late. */
export const expiresAt = '2026-01-02T00:00:00.000Z'

/**
 * Starts a run of user-1 that reserves 100 micro-credits, has used 70 and asks for one approval.
 */
export const pauseForApproval =
  ({ sendMessage, pauseRun }: Commands) =>
  async (sessionId: string, runId: string): Promise<void> => {
    await sendMessage(message({ sessionId, runId, messageId: `message of ${runId}` }), call)
    const { userId, keyId, ...request } = sessionEvent('ApprovalRequested').data
    const approvalId = `approval of ${runId}`
    const requests = [{ ...request, approvalId, runId, argumentsDigest: 'digest', expiresAt }]
    const paused = { ...sessionEvent('RunPaused').data, runId, charge: 70 }
    await pauseRun(
      { sessionId, owner: { node: 'node-1', attempt: 1 }, steps: [], requests, paused },
      call,
    )
  }
