import type { Call } from '../../ports/call.ts'
import type { Clock } from '../../ports/clock.ts'
import type { Delegated } from '../../security/delegate.ts'
import { idFor } from '../../support/ids.ts'
import type { TurnRequest } from '../turn.ts'
import type { ChosenAgents } from './choose-agents.ts'
import type { EarlierTurn } from './find-earlier-turn.ts'
import type { SessionPlace } from './locate-session.ts'
import { type ArrivedParts, type ReceiveParts, withFiles } from './receive-parts.ts'
import type { TurnInput } from './turn-input.ts'

const none: readonly never[] = []

/** Whether the client's results continue a turn of a session. */
const continues = (input: TurnInput, { sessionId }: SessionPlace): boolean =>
  input.kind === 'tool_results' && sessionId !== undefined

/** Takes in the files of an input: those of its message, then those of its history. */
export const receiveFiles =
  (receiveParts: ReceiveParts) =>
  async (input: TurnInput, session: SessionPlace): Promise<ArrivedParts | undefined> => {
    // A turn that continues has the files of its message.
    if (input.kind === 'regenerate' || continues(input, session)) return undefined
    const { parts, history } = input
    const sent =
      history.length > 0 ? [...parts, ...history.flatMap((message) => message.sent ?? [])] : parts
    return sent.length > 0 ? receiveParts(sent) : undefined
  }

/** What the steps of `beginTurn` came to. */
type Steps = {
  input: TurnInput
  caller: Delegated
  payerId: string
  messageId: string
  earlier: Extract<EarlierTurn, { failed: unknown }>
  agents: ChosenAgents
  session: SessionPlace
  files: ArrivedParts | undefined
}

/** The session of an earlier request with the same message, or a new one. */
const sessionIdOf = (clock: Clock, call: Call, { session, earlier }: Steps) => {
  const { sessionId } = session
  const { failed } = earlier
  return {
    sessionId: sessionId ?? failed?.sessionId ?? idFor(clock, call, 'session'),
    // With a scope, the same call may have made the session before.
    isNewSession: sessionId === undefined && call.scope === undefined && !failed,
  }
}

/** The message of a turn with its files, and what the client says came before and after it. */
const conversationOf = ({ input, session, files }: Steps) => {
  if (input.kind === 'regenerate') {
    const { message = '', files: parts = none } = session.regenerates ?? {}
    return { message, before: none, parts }
  }
  const { text, parts, history } = input
  const arrived = files?.parts ?? none
  const before = history.length > 0 ? withFiles(history, arrived.slice(parts.length)) : none
  return { message: text, before, parts: arrived.slice(0, parts.length) }
}

/** The request of a turn, for the session that it takes place in. */
export const turnRequest = (clock: Clock, steps: Steps): TurnRequest => {
  const { input, caller, payerId, messageId, earlier, agents, session, files } = steps
  const { message, before, parts } = conversationOf(steps)
  const { sessionId, isNewSession } = sessionIdOf(clock, caller.call, steps)
  const { agent, target, isDraft } = agents
  const request: TurnRequest = {
    ...caller,
    payerId,
    sessionId,
    isNewSession,
    hidden: input.hidden,
    messageId,
    agent,
    agents: agents.agents,
    message,
    system: input.system,
    before,
  }
  if (files || parts.length > 0) request.files = { ...files, parts }
  if (input.kind === 'tool_results') {
    if (continues(input, session)) request.results = input.results
    else request.after = input.after
  } else if (earlier.askAgain) request.askAgain = true
  if (input.clientTools) request.clientTools = input.clientTools
  if (input.keywordTools) request.keywordTools = input.keywordTools
  if (target) request.target = target
  if (isDraft) request.isDraft = isDraft
  if (session.follows !== undefined) request.follows = session.follows
  if (input.settings) request.settings = input.settings
  if (input.format) request.format = input.format
  if (input.echo) request.echo = input.echo
  if (input.delivery === 'whole') request.whole = true
  return request
}
