import type { LiveTurn } from '../../turns/turn.ts'
import type { StreamFormat } from './turn-frames.ts'

export type AgentStream = { agentId: string; agentName: string; model: string }

/**
 * The agent completion stream (docs/contract/streaming.md#agent-streams): no lifecycle events,
 * session_id once.
 */
export const agentFormat = (
  turn: LiveTurn,
  agent: AgentStream,
  closesOnError: boolean,
): StreamFormat => {
  const { runId, sessionId, created } = turn
  const common = JSON.stringify({
    id: `agentcmpl-${runId}`,
    object: 'agent.completion.chunk',
    created,
    agent_id: agent.agentId,
    agent_name: agent.agentName,
    model: agent.model,
  }).slice(0, -1)

  const chunk = (delta: string, finishReason: string | null = null): string =>
    `${common},"choices":[{"index":0,"delta":${delta},"finish_reason":${JSON.stringify(finishReason)}}]`

  return {
    inBranchOrder: true,
    closesOnError,
    opening: `${chunk('{"role":"assistant","content":""}')},"session_id":${JSON.stringify(sessionId)}}`,
    token: {
      before: `${common},"choices":[{"index":0,"delta":{"content":`,
      after: '},"finish_reason":null}]}',
    },
    // At the same indexes as in a chat's end: the rest of an orchestrator's turn is read as a chat.
    end: () => [undefined, `${chunk('{}', 'stop')}}`, undefined],
    lifecycle: () => undefined,
  }
}
