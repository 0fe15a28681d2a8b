import type { TurnDone } from '../../src/agents/agent-event.ts'
import type { LiveTurn, Outcome } from '../../src/turns/turn.ts'
import { turnItems } from '../../src/turns/turn-items.ts'

/** A part of the answer. */
export const token = (text: string, path?: number[]) => ({
  event: 'token' as const,
  agent: 'A',
  step_id: 's',
  text,
  ...(path ? { path } : {}),
})
/** The end of a turn that has answered. */
export const doneWith = (text: string): TurnDone => ({
  event: 'done',
  text,
  agent: 'A',
  finish_reason: 'stop',
  usage: { promptTokens: 1, completionTokens: 1 },
  charges: [],
})

/** A turn in memory without items; `outcome` is how it ended. */
export const turnWith = (outcome: Outcome, more: Partial<LiveTurn> = {}): LiveTurn => {
  const turn: LiveTurn = {
    runId: 'run-1',
    sessionId: 'session-1',
    organizationId: 'organization-1',
    agentId: 'agent-1',
    created: 1,
    items: turnItems(),
    started: Promise.resolve().then(() => turn),
    outcome: Promise.resolve(outcome),
    cancel: () => undefined,
    ...more,
  }
  return turn
}
