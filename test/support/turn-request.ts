import type { TurnRequest } from '../../src/turns/turn.ts'
import { agentNamed } from './agents.ts'
import { call } from './recorded.ts'

/** A request for a turn of agent A in session-1, like most. */
export const turnRequest = (more: Partial<TurnRequest> = {}): TurnRequest => ({
  call,
  viewer: { userId: 'user-1', onlyKeyId: 'key-1' },
  sessionId: 'session-1',
  hidden: undefined,
  message: 'Hi',
  system: [],
  before: [],
  agent: agentNamed('A'),
  agents: new Map(),
  messageId: 'message-1',
  payerId: 'user-1',
  ...more,
})
