import { refusal } from '../../domain/refusal.ts'
import type { Delegated } from '../../security/delegate.ts'
import type { FindOrResumeTurn } from '../resume/find-or-resume-turn.ts'
import type { Turns } from '../run/turns.ts'
import type { LiveTurn } from '../turn.ts'
import {
  hasFailed,
  isCancelled,
  type MessagePlace,
  type RequestContent,
  type Retries,
  type UnkeyedRequest,
} from './retries.ts'

/** How a request may repeat an earlier one. */
export type Repetition =
  | { kind: 'never' }
  | {
      /** By its idempotency key. */
      kind: 'keyed'
      /** The run that was streamed to the first request. */
      runId: string | undefined
      /** The message of a turn that was cancelled is answered anew. */
      askAgain: boolean
      /** Called before the turn is answered, where the first request had begun it. */
      onRepeated: (() => void) | undefined
    }
  /** As one of several requests without a key. */
  | { kind: 'unkeyed'; request: UnkeyedRequest; content: RequestContent }

/** The turn that answers a repeated request; without one, how its own turn begins. */
export type EarlierTurn =
  | { turn: LiveTurn }
  | {
      turn?: undefined
      /** Its message is stored, and the run of it failed. */
      failed: MessagePlace | undefined
      askAgain: boolean
      /** Another request may continue the failed run. */
      isClosed(): boolean
      /** Records the turn that begins; resolves with the turn that answers the request. */
      record(turn: LiveTurn, messageId: string): Promise<LiveTurn>
    }

type Uses = { turns: Pick<Turns, 'find'>; findOrResumeTurn: FindOrResumeTurn; retries: Retries }

const noEarlierTurn: EarlierTurn = {
  failed: undefined,
  askAgain: false,
  isClosed: () => false,
  record: async (turn) => turn,
}

/** Finds the turn that the first of several equal requests began. @throws service_unavailable */
export const findEarlierTurn = ({ turns, findOrResumeTurn, retries }: Uses) => {
  const streamed = async (runId: string, askAgain: boolean): Promise<LiveTurn | undefined> => {
    const turn = turns.find(runId) ?? (await findOrResumeTurn(runId))
    if (!turn) throw refusal('service_unavailable')
    return (await hasFailed(turn)) || (askAgain && (await isCancelled(turn))) ? undefined : turn
  }

  const keyed = async ({
    runId,
    askAgain,
    onRepeated,
  }: Repetition & { kind: 'keyed' }): Promise<EarlierTurn> => {
    const turn = runId === undefined ? undefined : await streamed(runId, askAgain)
    if (turn) {
      onRepeated?.()
      return { turn }
    }
    const record = async (own: LiveTurn): Promise<LiveTurn> => {
      if (!onRepeated) return own
      const started = await own.started
      if (started !== own) onRepeated()
      return started
    }
    return { ...noEarlierTurn, askAgain, record }
  }

  const unkeyed = async (
    { request, content }: Repetition & { kind: 'unkeyed' },
    { call: { organizationId }, viewer: { userId } }: Delegated,
  ): Promise<EarlierTurn> => {
    const retry = await retries({ request, content, organizationId, userId })
    if (retry.turn) return { turn: retry.turn }
    const { failed } = retry
    return {
      failed,
      askAgain: false,
      isClosed: () => failed !== undefined && request.isClosed(),
      async record(own, messageId) {
        retry.record(own.runId, { sessionId: own.sessionId, messageId })
        return own
      },
    }
  }

  return async (caller: Delegated, repetition: Repetition): Promise<EarlierTurn> => {
    if (repetition.kind === 'never') return noEarlierTurn
    return repetition.kind === 'keyed' ? keyed(repetition) : unkeyed(repetition, caller)
  }
}
