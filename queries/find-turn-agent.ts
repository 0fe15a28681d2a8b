import type { MessageView } from '../projections/messages.ts'
import type { RunView } from '../projections/runs.ts'
import type { View } from '../src/ports/views.ts'

type Uses = { messages: Pick<View<MessageView>, 'get'>; runs: Pick<View<RunView>, 'get'> }

/** The agent that the turn of a message was given to; undefined where that is not known any more. */
export const findTurnAgent =
  ({ messages, runs }: Uses) =>
  async (organizationId: string, messageId: string): Promise<string | undefined> => {
    const message = await messages.get(messageId)
    const run = message && (await runs.get(message.run_id))
    return run?.organization_id === organizationId ? run.agent_id : undefined
  }
export type FindTurnAgent = ReturnType<typeof findTurnAgent>
