import type { SendMessageCommand, Sent } from '../../commands/send-message.ts'
import { following } from '../ports/call.ts'
import type { Clock } from '../ports/clock.ts'
import type { Log } from '../ports/log.ts'
import type { Models } from '../ports/model.ts'
import { ownTurn } from '../support/own-turn.ts'
import { isLarge } from './given.ts'
import { reserveFor } from './reserve-for.ts'
import type { SealedRequest } from './sealed-request.ts'
import type { TurnRequest } from './turn.ts'
import { limitsOf } from './turn-limits.ts'

/** Characters of a request's messages beyond which its turn of the event loop is its own. */
const largeText = 262_144

export type StartRunUses = {
  sendMessage: SendMessageCommand
  models: Models
  clock: Clock
  /** This process's life: another process ends the runs of a life that is over. */
  node: string
  log: Pick<Log, 'error'>
}

/** Large texts are counted, sealed and sent in turns of the event loop of their own, not many at once. */
const pauseFor = (request: TurnRequest): Promise<void> | undefined => {
  const { message, before, system, results } = request
  let { length } = message
  for (const { content } of system) length += content.length
  for (const { content } of before) length += content.length
  for (const { content } of results ?? []) length += content.length
  return length > largeText ? ownTurn() : undefined
}

/** Reserves credits, and stores the message and the beginning of its run. */
export const startRun = (uses: StartRunUses & { sealed: SealedRequest }) => {
  const { sendMessage, clock, node, sealed } = uses
  const reserved = reserveFor(uses)

  /** @throws Refusal */
  return async (request: TurnRequest, runId: string): Promise<Sent> => {
    const { call, viewer, sessionId, hidden, agent, messageId, payerId } = request
    const { fingerprint, follows, isNewSession = false } = request
    const limits = limitsOf(request)
    const pause = pauseFor(request)
    if (pause) await pause
    const reserve = reserved(request)
    const sent = await sendMessage(
      {
        sessionId,
        isNew: isNewSession,
        viewer,
        keyId: call.keyId,
        hidden,
        messageId,
        runId,
        content: () => sealed.contentOf(request),
        agentId: agent.agentId,
        agent: agent.name,
        node,
        payerId,
        reserve,
        kept: () => sealed.keptOf(request),
        ...(fingerprint === undefined ? {} : { fingerprint }),
        ...(follows === undefined ? {} : { follows }),
        ...(Object.keys(limits).length > 0 ? { limits } : {}),
      },
      following(call, call.causationId, clock.now()),
    )
    if (pause || (request.results && isLarge(sent))) await ownTurn()
    return sent
  }
}
