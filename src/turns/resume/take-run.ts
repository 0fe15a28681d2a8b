import { ZodError } from 'zod'
import type { ResumeRunCommand } from '../../../commands/resume-run.ts'
import type { Sent } from '../../../commands/send-message.ts'
import type { RunView } from '../../../projections/runs.ts'
import type { AgentConfig } from '../../agents/agent.ts'
import type { FindAgents } from '../../caches/find-agents.ts'
import type { Metadata } from '../../domain/event.ts'
import { Refusal } from '../../domain/refusal.ts'
import type { RefusalCode } from '../../domain/refusal-words.ts'
import { type SessionEvent, sessionEvents } from '../../domain/session/events.ts'
import { sessionStream } from '../../domain/session/session.ts'
import { decoder } from '../../event-sourcing/codec.ts'
import { type Call, systemCall } from '../../ports/call.ts'
import type { Clock } from '../../ports/clock.ts'
import type { EventStore } from '../../ports/event-store.ts'
import { KeyDestroyed } from '../../ports/keys.ts'
import { type Keyed, SealBroken, sessionKey, type Vault } from '../../security/vault.ts'
import { draftTeam } from '../begin/choose-agents.ts'
import { openedBefore, openedRequest } from '../begin/stored-request.ts'
import type { TurnRequest } from '../turn.ts'
import type { AbandonRun } from './abandon-run.ts'
import { type RecordedEvent, type RecordedRun, recordedRun } from './recorded-run.ts'

type Uses = {
  resumeRun: ResumeRunCommand
  abandonRun: AbandonRun
  readStream: EventStore['read']
  findAgents: FindAgents
  vault: Pick<Vault, 'keyed'>
  clock: Clock
  /** Identifies this process until it ends. */
  node: string
}

/** A run that this process resumes, or starts from the queue. */
export type ResumedRun = {
  request: TurnRequest
  session: Sent['session']
  position: Sent['position']
  key: Keyed
  recorded: RecordedRun
  attempt: number
}

/** What may be repaired by the next attempt: a run is not closed for it. */
const temporary: ReadonlySet<RefusalCode> = new Set(['stream_unreadable', 'service_unavailable'])

/** A run cannot be resumed. The message gives the reason and is stored with the run's end. */
export class NotResumable extends Error {
  override readonly name = 'NotResumable'
}

type Started = SessionEvent<'RunStarted'> & { metadata: Metadata }

const decode = decoder(sessionEvents)

/**
 * The trace that a run began in. Its first span is known to the process that died; one in its place
 * is the parent.
 */
const traceOf = ({ data, metadata }: Started): Pick<Call, 'trace'> =>
  metadata.trace_id === undefined
    ? {}
    : {
        trace: {
          traceId: metadata.trace_id,
          spanId: data.runId.replaceAll('-', '').slice(-16),
          sampled: true,
        },
      }

/** The call that the run began with, as it is recorded. */
const callOf = ({ metadata, ...started }: Started): Call => ({
  ...traceOf({ metadata, ...started }),
  organizationId: metadata.organization_id,
  keyId: metadata.actor.key_id,
  userId: metadata.actor.user_id,
  onBehalfOf: metadata.on_behalf_of,
  requestId: metadata.request_id,
  correlationId: metadata.$correlationId,
  causationId: metadata.$causationId,
  at: metadata.at,
})

/** The client's results that resume a run, in the order in which they were recorded. */
const resultsIn = (runId: string, events: readonly SessionEvent[], { open }: Keyed) =>
  events.flatMap(({ type, data }) =>
    type === 'ClientToolAnswered' && data.runId === runId
      ? [{ toolId: data.toolId, content: open(data.content) }]
      : [],
  )

/**
 * Takes a run over and reads what is recorded of it: first it is this process's, then it is read,
 * so that nothing can be added behind its back. Undefined where it is another's or has ended.
 * @throws NotResumable, StoreUnavailable
 */
export const takeRun = (uses: Uses) => {
  const { resumeRun, abandonRun, readStream, findAgents, vault, clock, node } = uses

  const eventsOf = async (run: RunView, openCalls: number): Promise<RecordedEvent[]> => {
    const stream = sessionStream(run.organization_id, run.session_id)
    const from = Math.max(0, (run.revision ?? 0) - openCalls)
    const events: RecordedEvent[] = []
    for await (const batch of readStream(stream.name, from)) events.push(...batch.map(decode))
    return events
  }

  const agentsFor = async ({ organization_id, agent_id }: RunView, target: string | undefined) => {
    const query = { agentId: agent_id, targets: [target] }
    const { orchestrator, agents } = await findAgents(organization_id, query)
    const find = (id: string | undefined) => {
      const agent = id === orchestrator.agentId ? orchestrator : agents.get(id ?? '')
      if (!agent) throw new NotResumable('the agent is gone')
      return agent
    }
    return { agent: find(agent_id), agents, find }
  }

  const draftFor = async ({ organization_id }: RunView, draft: AgentConfig) => ({
    ...(await draftTeam(findAgents, organization_id, draft)),
    find: () => draft,
  })

  const take = async (run: RunView, besideSuspects: boolean): Promise<ResumedRun | undefined> => {
    const { run_id: runId, session_id: sessionId, organization_id } = run
    const from = { node: run.node, attempt: run.attempt ?? 1 }
    const command = { sessionId, runId, from, node, besideSuspects }
    const claim = await resumeRun(command, systemCall(runId, clock.now(), organization_id))
    const { attempt, exhausted, session, position } = claim
    if (exhausted) throw new NotResumable('it was tried as often as a run is')
    if (attempt === undefined) return undefined
    await abandonRun(run)

    const events = await eventsOf(run, session.waiting?.calls.length ?? 0)
    const isStart = (event: RecordedEvent): event is RecordedEvent & Started =>
      event.type === 'RunStarted' && event.data.runId === runId
    const started = events.find(isStart)
    if (!started?.data.attempt) throw new NotResumable('its steps were not recorded')
    if (started.data.kept === false) throw new NotResumable('its request was too large to be kept')

    const key = await vault.keyed(sessionKey(organization_id, sessionId))
    const { targetAgentId, draft, ...options } = openedRequest(key, started.data.request)
    const { agent, agents, find } = draft
      ? await draftFor(run, draft)
      : await agentsFor(run, targetAgentId)
    const results = resultsIn(runId, events, key)
    const message = session.recent.at(-1)
    const request: TurnRequest = {
      call: callOf(started),
      viewer: { userId: session.ownerId, onlyKeyId: null },
      sessionId,
      hidden: undefined,
      message: message ? key.open(message.content) : '',
      system: [],
      before: openedBefore(key, started.data.before),
      agent,
      agents,
      messageId: run.message_id,
      payerId: run.payer_id,
      limits: started.data.limits ?? {},
      ...options,
      ...(draft ? { isDraft: true as const } : {}),
      ...(started.data.continues === undefined ? {} : { results }),
      ...(targetAgentId === undefined ? {} : { target: find(targetAgentId) }),
    }
    const recorded = recordedRun(runId, events, key.open)
    return { request, session, position, key, recorded, attempt }
  }

  return (run: RunView, besideSuspects = false): Promise<ResumedRun | undefined> =>
    take(run, besideSuspects).catch((error: unknown) => {
      if (error instanceof Refusal && temporary.has(error.code)) throw error
      if (error instanceof KeyDestroyed || error instanceof Refusal)
        throw new NotResumable('the session or its agents are gone')
      if (error instanceof SealBroken || error instanceof SyntaxError || error instanceof ZodError)
        throw new NotResumable('its request cannot be read')
      throw error
    })
}
export type TakeRun = ReturnType<typeof takeRun>
