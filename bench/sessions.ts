import { systemClock as clock } from '../src/app/system-clock.ts'
import type { SessionEvent } from '../src/domain/session/events.ts'
import { sessionStream } from '../src/domain/session/session.ts'
import { metadataOf, rootCall } from '../src/ports/call.ts'
import { type EventStore, type NewEvent, START } from '../src/ports/event-store.ts'
import { type Keyed, sessionKey } from '../src/security/vault.ts'
import type { Tenant, Writing } from './tenants.ts'

const agent = 'Orchestrator'
const question = 'What does the contract say about notice?'
const answer =
  'I understood your message: “What does the contract say about notice?”. I can answer questions.'
const concurrency = 256

/** A session that was stored without a server. */
export type Stored = { tenant: Tenant; sessionId: string }

/** The two appends of a turn with an LLM agent that calls no tool. */
const turnOf = (
  { userId }: Tenant,
  { seal }: Keyed,
  text: string,
): [SessionEvent[], SessionEvent[]] => {
  const runId = clock.id()
  const stepId = clock.id()
  const agentId = stepId
  const messageId = clock.id()
  return [
    [
      { type: 'UserMessageSent', data: { messageId, runId, content: seal(question) } },
      {
        type: 'RunStarted',
        data: { runId, messageId, agentId, agent, node: 'bench', payerId: userId },
      },
    ],
    [
      {
        type: 'AgentStarted',
        data: {
          runId,
          stepId,
          agentId,
          agent,
          agentType: 'LLM_AGENT',
          depth: 0,
          parentAgent: null,
        },
      },
      {
        type: 'AgentCompleted',
        data: {
          runId,
          stepId,
          agent,
          durationMs: 1,
          model: 'offline/extractive',
          promptTokens: 40,
          completionTokens: 20,
        },
      },
      {
        type: 'AssistantMessageRecorded',
        data: { messageId: clock.id(), runId, agent, content: seal(text) },
      },
      {
        type: 'RunCompleted',
        data: {
          runId,
          finishReason: 'stop',
          model: 'offline/extractive',
          durationMs: 1,
          promptTokens: 40,
          completionTokens: 20,
          charge: 80,
        },
      },
    ],
  ]
}

const append = async (
  events: EventStore,
  stream: string,
  after: number,
  decided: readonly SessionEvent[],
  tenant: Tenant,
): Promise<number> => {
  const call = rootCall(tenant, clock.id(), clock.now())
  const metadata = metadataOf(call, 1, call.at)
  const stamped = decided.map((event): NewEvent => ({ id: clock.id(), ...event, metadata }))
  return (await events.append(stream, after, stamped)).revision
}

const storeOne = async (
  { events, vault }: Writing,
  tenant: Tenant,
  turns: number,
  text: string,
) => {
  const { organizationId, userId, keyId } = tenant
  const sessionId = clock.id()
  const { name } = sessionStream(organizationId, sessionId)
  const keyed = await vault.keyed(sessionKey(organizationId, sessionId))
  const created: SessionEvent = { type: 'SessionCreated', data: { userId, keyId, hidden: false } }
  let revision: number = START
  for (let turn = 0; turn < turns; turn++) {
    const [opening, closing] = turnOf(tenant, keyed, text)
    const first = turn === 0 ? [created, ...opening] : opening
    revision = await append(events, name, revision, first, tenant)
    revision = await append(events, name, revision, closing, tenant)
  }
  return { tenant, sessionId }
}

/**
 * Appends the events of sessions directly to the log: 6 events a turn and one more for the session.
 * `turnsOf` returns the number of turns of the nth, `text` is every answer. Credits are left out.
 */
export const storeSessions = async (
  writing: Writing,
  tenants: readonly Tenant[],
  count: number,
  turnsOf: (n: number) => number,
  text = answer,
): Promise<Stored[]> => {
  const stored: Stored[] = []
  let next = 0
  const worker = async () => {
    for (let n = next++; n < count; n = next++) {
      const tenant = tenants[n % tenants.length]
      if (tenant) stored.push(await storeOne(writing, tenant, turnsOf(n), text))
    }
  }
  await Promise.all(Array.from({ length: concurrency }, worker))
  return stored
}
