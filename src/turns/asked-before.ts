import type { MessageView } from '../../projections/messages.ts'
import type { RunView } from '../../projections/runs.ts'
import { sessionEvents } from '../domain/session/events.ts'
import { sessionStream } from '../domain/session/session.ts'
import { decoder } from '../event-sourcing/codec.ts'
import type { EventStore } from '../ports/event-store.ts'
import type { View } from '../ports/views.ts'
import { sessionKey, type Vault } from '../security/vault.ts'
import { openedRequest } from './kept-request.ts'

type Uses = {
  messages: Pick<View<MessageView>, 'get'>
  runs: Pick<View<RunView>, 'get'>
  read: EventStore['read']
  vault: Pick<Vault, 'found'>
}

/** What a turn was asked with, besides its message; `agentId` is the agent that it was given to. */
export type AskedBefore = ReturnType<typeof openedRequest> & { agentId?: string }

const decode = decoder(sessionEvents)

/**
 * What the turn of a message was asked with, as far as it is kept: nothing once the session of its run is
 * erased.
 */
export const askedBefore = ({ messages, runs, read, vault }: Uses) => {
  const requestOf = async ({ organization_id, session_id, run_id, revision }: RunView) => {
    const key = await vault.found(sessionKey(organization_id, session_id))
    if (!key || revision === undefined) return {}
    for await (const [first] of read(sessionStream(organization_id, session_id).name, revision)) {
      const event = first && decode(first)
      return event?.type === 'RunStarted' && event.data.runId === run_id
        ? openedRequest(key, event.data.request)
        : {}
    }
    return {}
  }

  return async (organizationId: string, messageId: string): Promise<AskedBefore> => {
    const message = await messages.get(messageId)
    const run = message && (await runs.get(message.run_id))
    if (run?.organization_id !== organizationId) return {}
    const { agent_id: agentId } = run
    return { ...(await requestOf(run)), ...(agentId === undefined ? {} : { agentId }) }
  }
}
export type FindAskedBefore = ReturnType<typeof askedBefore>
