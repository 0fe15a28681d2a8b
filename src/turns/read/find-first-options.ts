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

/** The options that a turn began with; `agentId` is the agent that it was given to. */
export type FirstOptions = ReturnType<typeof openedRequest> & { agentId?: string }

/**
 * Finds the options of a message's turn, as far as they are stored: none once the session of its
 * run is erased.
 */
export const findFirstOptions =
  ({ messages, runs, runStart }: Uses) =>
  async (organizationId: string, messageId: string): Promise<FirstOptions> => {
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
export type FindFirstOptions = ReturnType<typeof findFirstOptions>
