import { Refusal, refusal } from '../../domain/refusal.ts'
import { type Call, rootCall } from '../../ports/call.ts'
import type { Clock } from '../../ports/clock.ts'
import type { Span, Telemetry } from '../../ports/telemetry.ts'
import type { Access } from '../../security/access.ts'
import type { Asker } from '../../security/delegate.ts'
import { requireScopes } from '../../security/scopes.ts'
import type { BeginTurn } from '../../turns/begin/begin-turn.ts'
import type { LiveTurn } from '../../turns/turn.ts'
import type { Admit } from '../checks/admission.ts'
import { sendTurn, sendUpload, type Upload } from './answers.ts'
import { type About, encode, fieldsOf } from './codec.ts'
import type { SocketConnection } from './connection.ts'
import { incoming } from './frames.ts'

export type RequestUses = {
  admit: Admit
  /** Called for every message and file that passed authentication and limits. */
  counted(access: Access): void
  beginTurn: BeginTurn
  /** Undefined: files are refused. */
  upload?: Upload | undefined
  clock: Clock
  /** Undefined: nothing is traced. */
  telemetry?: Telemetry | undefined
}

type Channel = {
  connection: SocketConnection
  /** The current access of the client's key. @throws Refusal */
  access(): Promise<Access>
  refuse(error: unknown, about: About): void
}

/** A request that has begun; `answer` settles when it is answered. */
type StartedRequest = { about: About; answer: Promise<void> }

/**
 * A client's requests on its connection. A message or file passes the checks of a request over
 * HTTP, in the same order (docs/contract/requests.md#order-of-checks); its promise resolves when it
 * has begun, and rejects when it is refused.
 */
export const requests = (uses: RequestUses, { connection, access, refuse }: Channel) => {
  const { admit, counted, beginTurn, upload, clock, telemetry } = uses
  let stopping = false
  /** Turns that were begun here and have not ended, the oldest first. */
  const live = new Set<LiveTurn>()
  const answers = new Set<Promise<void>>()

  /** A span for each request, from its frame to the end of its answer. */
  const traced = (name: string, call: Call): { call: Call; span?: Span } => {
    if (!telemetry) return { call }
    const attributes = {
      'reprise.request_id': call.requestId,
      'reprise.organization_id': call.organizationId,
    }
    const span = telemetry.begin(`WS ${name}`, { kind: 'server', attributes })
    return { call: { ...call, trace: span.context }, span }
  }

  /** Counts as running until it is answered. */
  const request = async (
    name: string,
    scopes: readonly string[],
    start: (asker: Asker) => Promise<StartedRequest>,
  ): Promise<void> => {
    const granted = await access()
    const admitted = admit(granted)
    const { call, span } = traced(name, rootCall(granted, clock.id(), clock.now()))
    const endSpan = (error?: unknown) =>
      span?.end({}, error instanceof Refusal ? error.code : undefined)
    try {
      if (admitted?.refusal) throw admitted.refusal
      counted(granted)
      requireScopes(granted, scopes)
      if (stopping) throw refusal('service_unavailable')
      const { about, answer } = await start({ access: granted, call })
      const settled = answer
        .then(
          () => endSpan(),
          (error: unknown) => {
            endSpan(error)
            refuse(error, about)
          },
        )
        .finally(() => {
          answers.delete(settled)
          admitted?.leave()
        })
      answers.add(settled)
    } catch (error) {
      endSpan(error)
      admitted?.leave()
      throw error
    }
  }

  return {
    message: (frame: unknown, about: About): Promise<void> =>
      request('message', ['orchestrator:invoke', 'orchestrator:stream'], async (asker) => {
        const message = fieldsOf(incoming.message, frame)
        const turn = await beginTurn(asker, {
          kind: 'message',
          ...message.content,
          system: [],
          history: [],
          session: { kind: 'id', sessionId: message.session_id },
          agent: { kind: 'orchestrator', targetAgentId: message.target_agent_id },
          delivery: 'streamed',
          hidden: message.session_hidden,
          onBehalfOf: message.on_behalf_of,
        })
        live.add(turn)
        void turn.outcome.then(() => live.delete(turn))
        const own = { ...about, session_id: turn.sessionId }
        return { about: own, answer: sendTurn(connection, turn, own) }
      }),

    file: (frame: unknown, about: About): Promise<void> =>
      request('file', ['rag:upload'], async (asker) => {
        if (!upload) throw refusal('not_available', { message: 'Files are not taken in here' })
        const file = fieldsOf(incoming.file, frame)
        const steps = await upload(asker, {
          datastoreId: file.datastore_id,
          filename: file.filename,
          content: file.content,
          contentType: file.content_type,
          onBehalfOf: file.on_behalf_of,
        })
        return { about, answer: sendUpload(connection, steps, about) }
      }),

    /**
     * Cancels the turns of one session that were begun here; of the latest one unless the frame
     * names it.
     */
    async cancel(frame: unknown, about: About): Promise<void> {
      requireScopes(await access(), ['orchestrator:invoke'])
      const turns = [...live]
      const sessionId = fieldsOf(incoming.cancel, frame).session_id ?? turns.at(-1)?.sessionId
      const named = turns.filter((turn) => turn.sessionId === sessionId)
      for (const turn of named) turn.cancel()
      const session = sessionId === undefined ? {} : { session_id: sessionId }
      connection.send(
        encode('cancelled', { cancelled: named.length > 0 }, { ...about, ...session }),
      )
    },

    /** From now on messages and files are refused. */
    stop(): void {
      stopping = true
    },
    /** Resolves when the turns that were begun here have ended. */
    ended: async (): Promise<void> => {
      await Promise.all([...live].map(({ outcome }) => outcome))
    },
    /** Resolves when everything has been answered. */
    answered: async (): Promise<void> => {
      await Promise.all(answers)
    },
  }
}
