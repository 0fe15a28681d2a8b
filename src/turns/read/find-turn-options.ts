import type { MessageView } from '../../../projections/messages.ts'
import type { RunView } from '../../../projections/runs.ts'
import type { View } from '../../ports/views.ts'
import { openedRequest } from '../begin/stored-request.ts'
import type { FindRunStart } from './run-start.ts'

type Uses = {
  messages: Pick<View<MessageView>, 'get'>
  runs: Pick<View<RunView>, 'get'>
  runStart: FindRunStart
}

/** What a turn was asked with, besides its message; `agentId` is the agent that it was given to. */
export type AskedBefore = ReturnType<typeof openedRequest> & { agentId?: string }

/**
 * What the turn of a message was asked with, as far as it is kept: nothing once the session of its run is
 * erased.
 */
export const askedBefore =
  ({ messages, runs, runStart }: Uses) =>
  async (organizationId: string, messageId: string): Promise<AskedBefore> => {
    const message = await messages.get(messageId)
    const run = message && (await runs.get(message.run_id))
    if (run?.organization_id !== organizationId) return {}
    const { agent_id: agentId } = run
    const start = await runStart(run)
    return {
      ...(start ? openedRequest(start.key, start.data.request) : {}),
      ...(agentId === undefined ? {} : { agentId }),
    }
  }
export type FindAskedBefore = ReturnType<typeof askedBefore>
