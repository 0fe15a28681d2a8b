import { setTimeout as pause } from 'node:timers/promises'
import { refusal } from '../../domain/refusal.ts'
import { limitCode } from '../../domain/run-limits.ts'
import { sessionStream } from '../../domain/session/session.ts'
import type { Load } from '../../event-sourcing/transactor.ts'
import type { Clock } from '../../ports/clock.ts'
import type { Log } from '../../ports/log.ts'
import type { UndeliveredRun, UndeliveredRuns } from '../../ports/undelivered-runs.ts'
import type { FindOrResumeTurn } from '../resume/find-or-resume-turn.ts'
import type { Turns } from '../run/turns.ts'
import type { LiveTurn } from '../turn.ts'

/**
 * How long a retry waits for the connection of the first request to close, in steps: 1 s in all.
 */
const closingMs = [25, 50, 100, 200, 250, 375]
/** Poll interval for a run of another process. */
const pollMs = 250

/** A request without an idempotency key, as far as retries of it matter. */
export type UnkeyedRequest = {
  /** The client says that it is a retry. */
  isRetry: boolean
  /** Answered before its run ends: streamed, or in the background. */
  early: boolean
  /** Whether its client is gone, or has its answer. */
  isClosed(): boolean
  /** Calls back once it is closed, at once where it is: whether the answer counts as delivered. */
  onClosed(closed: (isDelivered: boolean) => void): void
}

/** The content of a request, equal for identical requests. */
export type RequestContent = { key: string; url: string; body: Uint8Array | undefined }

type RetryRequest = {
  request: UnkeyedRequest
  content: RequestContent
  organizationId: string
  /** The user whose sessions the request works on. */
  userId: string
}

/** Where the turn of a request is stored. */
export type MessagePlace = Pick<UndeliveredRun, 'sessionId' | 'messageId'>

/** What a request takes over from an earlier identical request, if there is one. */
export type Retry = {
  /** The turn that answers it. */
  turn?: LiveTurn
  /** The message that is answered anew, since its run failed. */
  failed?: MessagePlace
  /** Records the run that the request itself begins. */
  record(runId: string, place: MessagePlace): void
}

type Uses = {
  undelivered: UndeliveredRuns
  turns: Pick<Turns, 'find'>
  findOrResumeTurn: FindOrResumeTurn
  load: Load
  /** An HMAC. */
  hash(text: string, body?: Uint8Array): string
  clock: Clock
  /** Identifies this process until it ends. */
  node: string
  log: Pick<Log, 'warn'>
}

/**
 * Whether a turn has failed so that its message can be asked again. One that reached a limit is an
 * answer.
 */
export const hasFailed = async ({ outcome }: LiveTurn): Promise<boolean> => {
  const result = await Promise.race([outcome, undefined])
  return result?.status === 'failed' && result.refusal.code !== limitCode
}

/** Whether a turn was cancelled, as far as is known by now. */
export const isCancelled = async ({ outcome }: LiveTurn): Promise<boolean> =>
  (await Promise.race([outcome, undefined]))?.status === 'cancelled'

/**
 * Retries without an idempotency key
 * (docs/contract/requests.md#retries-without-an-idempotency-key): a run whose answer was not
 * delivered answers one identical request, so that two clients never share a session.
 */
export const retries = (uses: Uses) => {
  const { undelivered, turns, findOrResumeTurn, load, hash, clock, node, log } = uses
  let requests = 0

  /** @throws service_unavailable */
  const requireOpen = ({ isClosed }: UnkeyedRequest): void => {
    if (isClosed()) throw refusal('service_unavailable')
  }

  const claimRun = async (fingerprint: string, request: UnkeyedRequest, number: number) => {
    const next = () => undelivered.claim(fingerprint, { node, request: number }, clock.now())
    let claim = await next()
    if ('heldByOthers' in claim) {
      const others = claim.heldByOthers.filter((run) => run.node !== node)
      // A run of a dead process resumes here and can then be claimed.
      for (const { runId } of others) await findOrResumeTurn(runId)
      if (others.length > 0) claim = await next()
    }
    for (const ms of request.isRetry ? closingMs : []) {
      if ('run' in claim || claim.heldByOthers.length === 0) break
      await pause(ms)
      requireOpen(request)
      claim = await next()
    }
    return 'run' in claim ? claim.run : undefined
  }

  /** The turn of a claimed run; undefined where it failed, or was never stored. */
  const turnOf = async (run: UndeliveredRun, organizationId: string, request: UnkeyedRequest) => {
    const { runId, sessionId, messageId } = run
    for (;;) {
      const turn = turns.find(runId) ?? (await findOrResumeTurn(runId))
      if (turn) return (await hasFailed(turn)) ? undefined : turn
      const { state } = await load(sessionStream(organizationId, sessionId))
      if (state.status === 'erased') return 'erased'
      const stored = state.turns.find((item) => item.messageId === messageId)
      if (!stored || stored.outcome === 'failed') return undefined
      // Another process executes it, or the views do not show it yet.
      requireOpen(request)
      await pause(pollMs)
    }
  }

  /**
   * What the request claims. Its own run, or the claimed one, is released or removed once it is
   * closed.
   */
  return async ({ request, content, organizationId, userId }: RetryRequest): Promise<Retry> => {
    const { key, url, body } = content
    const fingerprint = hash([key, organizationId, userId, url, ''].join('\n'), body)
    const holder = { node, request: ++requests }
    let stored = Promise.resolve()
    /** Stores changes one after the other. A run whose change is not stored counts as delivered. */
    const store = (change: () => Promise<void>): void => {
      stored = stored
        .then(change)
        .catch((err: unknown) => log.warn({ err }, 'a retry of a request will not be recognized'))
    }
    let heldRun = await claimRun(fingerprint, request, holder.request)
    let delivered: boolean | undefined
    const releaseOrRemove = (): void => {
      if (!heldRun || delivered === undefined) return
      const { runId } = heldRun
      store(() => (delivered ? undelivered.remove : undelivered.release)(runId, holder))
    }
    request.onClosed((isDelivered) => {
      delivered = isDelivered
      releaseOrRemove()
    })
    const record: Retry['record'] = (runId, place) => {
      const replaced = heldRun
      const at = replaced?.at ?? clock.now().getTime()
      const run = { ...place, runId, fingerprint, at, early: request.early }
      heldRun = run
      store(() => undelivered.add(run, holder))
      if (replaced) store(() => undelivered.remove(replaced.runId, holder))
      releaseOrRemove()
    }
    if (!heldRun) return { record }
    const { sessionId, messageId } = heldRun
    const turn = await turnOf(heldRun, organizationId, request)
    if (turn === 'erased') return { record }
    requireOpen(request)
    return turn ? { turn, record } : { failed: { sessionId, messageId }, record }
  }
}
export type Retries = ReturnType<typeof retries>
