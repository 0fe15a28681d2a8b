import type { SendMessage, SendMessageCommand, Sent } from '../../../commands/send-message.ts'
import { Refusal } from '../../domain/refusal.ts'
import { isUnstorable } from '../../event-sourcing/check-events.ts'
import type { Clock } from '../../ports/clock.ts'
import type { Log } from '../../ports/log.ts'
import type { Models } from '../../ports/model.ts'
import type { SealedBlobs } from '../../security/sealed-blobs.ts'
import { type Keyed, sessionKey } from '../../security/vault.ts'
import { yieldToEventLoop } from '../../support/yield-to-event-loop.ts'
import { isLarge } from '../run/agent-input.ts'
import { tooManyRuns } from '../run/run-places.ts'
import type { TurnRequest } from '../turn.ts'
import { limitsOf } from '../turn.ts'
import { expectedCost } from './expected-cost.ts'
import type { ArrivedPart } from './receive-parts.ts'
import type { SealedRequest, SealRequest } from './seal-request.ts'
import { type StoredFiles, storedFiles } from './store-files.ts'

/** Characters of a request's messages beyond which it gets an iteration of the event loop. */
const largeText = 262_144

export type StartRunUses = {
  sendMessage: SendMessageCommand
  sealRequest: SealRequest
  blobs: SealedBlobs
  models: Models
  /** This process's life: another process ends the runs of a life that is over. */
  node: string
  clock: Pick<Clock, 'now'>
  log: Pick<Log, 'error'>
}

/** A stored message, with the session's key once it was sealed. */
export type StartedRun = Sent & { key: Keyed | undefined }

/** Characters of all messages of a request. */
const textLength = ({ message, before, system, results }: TurnRequest): number => {
  let { length } = message
  for (const { content } of system) length += content.length
  for (const { content } of before) length += content.length
  for (const { content } of results ?? []) length += content.length
  return length
}

/**
 * Reserves credits, and stores the files of the message, the message and the beginning of its run.
 */
export const startRun = (uses: StartRunUses) => {
  const { sendMessage, sealRequest, blobs, node } = uses
  const costOf = expectedCost(uses)

  /** Seals what is stored. @throws rate_limit_exceeded where a queued run cannot be stored whole */
  const seal = async (request: TurnRequest, files?: StoredFiles): Promise<SealedRequest> => {
    const sealed = await sealRequest(request, files)
    if (request.queued && sealed.message.kept === false)
      throw tooManyRuns(request.queued.runsAtOnce, uses.clock.now())
    return sealed
  }

  const send = async (
    request: TurnRequest,
    runId: string,
    files?: StoredFiles,
  ): Promise<StartedRun> => {
    const { call, viewer, sessionId, hidden, agent, messageId, payerId } = request
    const { follows, isNewSession = false } = request
    let key: Keyed | undefined
    const message: SendMessage = {
      sessionId,
      isNew: isNewSession,
      viewer,
      keyId: call.keyId,
      hidden,
      messageId,
      runId,
      async seal() {
        const sealed = await seal(request, files)
        key = sealed.key
        return sealed.message
      },
      agentId: agent.agentId,
      agent: agent.name,
      node,
      payerId,
      reserve: costOf(request),
    }
    const limits = limitsOf(request)
    if (request.askAgain) message.askAgain = true
    if (request.queued) message.queued = true
    if (request.isDraft) message.draft = true
    if (follows !== undefined) message.follows = follows
    if (Object.keys(limits).length > 0) message.limits = limits
    const sent = await sendMessage(message, call)
    return { ...sent, key }
  }

  /** Large texts are counted, sealed and stored one request at a time, not many at once. */
  const start = async (
    request: TurnRequest,
    runId: string,
    files?: StoredFiles,
  ): Promise<StartedRun> => {
    const hasLargeText = textLength(request) > largeText
    if (hasLargeText) await yieldToEventLoop()
    const sent = await send(request, runId, files)
    if (hasLargeText || (request.results && isLarge(sent.session))) await yieldToEventLoop()
    return sent
  }

  /** Removes the files again where the message was surely not stored. */
  const withFiles = async (request: TurnRequest, runId: string, parts: readonly ArrivedPart[]) => {
    const { call, sessionId } = request
    const files = storedFiles(parts, blobs.under(sessionKey(call.organizationId, sessionId)))
    try {
      return await start(request, runId, files)
    } catch (error) {
      const isRefused = error instanceof Refusal || isUnstorable(error)
      if (isRefused) await files.remove().catch(() => undefined)
      throw error
    }
  }

  /** @throws Refusal */
  return (request: TurnRequest, runId: string): Promise<StartedRun> =>
    request.files ? withFiles(request, runId, request.files.parts) : start(request, runId)
}

export type StartRun = ReturnType<typeof startRun>
