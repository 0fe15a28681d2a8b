import type { SendMessage } from '../../commands/send-message.ts'
import { sessionEvents } from '../../src/domain/session/events.ts'
import { sampleOf } from './events.ts'

/** A message of user-1 that begins a run, for which 100 micro-credits are held back. */
export const message = (change: Partial<SendMessage> = {}): SendMessage => ({
  sessionId: 'session-1',
  viewer: { userId: 'user-1', onlyKeyId: null },
  keyId: 'key-1',
  hidden: undefined,
  messageId: 'message-1',
  runId: 'run-1',
  seal: async () => ({ content: { $sealed: 'session:org-1/session-1', box: 'Hi' } }),
  agentId: 'agent-1',
  agent: 'Orchestrator',
  node: 'node-1',
  payerId: 'user-1',
  reserve: 100,
  ...change,
})

export const agentRouted = (runId: string) => sampleOf(sessionEvents, 'AgentRouted', { runId })
export const assistantMessage = (runId: string) =>
  sampleOf(sessionEvents, 'AssistantMessageRecorded', { runId })
export const runCompleted = (runId: string, charge: number) =>
  sampleOf(sessionEvents, 'RunCompleted', { runId, charge })
export const runFailed = (runId: string) =>
  sampleOf(sessionEvents, 'RunFailed', { runId, charge: 0 })
