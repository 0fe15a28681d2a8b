import { VerificationFailed, VerificationUnavailable } from './failure.ts'
import { type Fetch, type LogClient, logClient } from './log-client.ts'
import { checkpointMemory, type Memory } from './memory.ts'
import type { EventResult, LogResult, NotVerified } from './result.ts'
import type { ListedEvent } from './stored-event.ts'
import { verifyCheckpoint } from './verify-checkpoint.ts'
import { verifyInclusion } from './verify-inclusion.ts'
import { type Subtle, unsupportedIn, type WebCrypto } from './web-crypto.ts'

type Log = {
  /** The checkpoints' first line: `reprise/<organization id>`. */
  origin: string
  /** The path of the log: `/api/admin/organizations/<organization id>/audit`. */
  at: string
  fetch: Fetch
  /** Without storage no visit is compared with an earlier one. */
  memory?: Memory | undefined
  /** A verifier key that the user got through a trusted channel. */
  key?: string | undefined
  crypto?: WebCrypto | undefined
  now?: (() => Date) | undefined
}

/** An organization's log, as this server serves it. */
export const organizationLog = (organizationId: string) => ({
  origin: `reprise/${organizationId}`,
  at: `/api/admin/organizations/${organizationId}/audit`,
})

type Options = { signal?: AbortSignal | undefined }

/** Verifies a transparency log in the browser, or in Node. What goes wrong is a result. */
export const logVerifier = ({ origin, at, fetch, key: givenKey, ...log }: Log) => {
  const { crypto = globalThis.crypto, now = () => new Date() } = log
  const memory = checkpointMemory(log.memory, origin)

  const settle = async <Result>(
    { signal }: Options,
    verify: (parts: { subtle: Subtle; client: LogClient }) => Promise<Result>,
  ): Promise<Result | NotVerified> => {
    const { subtle } = crypto
    const missing = await unsupportedIn(subtle)
    if (missing !== undefined || !subtle)
      return { kind: 'unsupported', missing: missing ?? 'webcrypto' }
    try {
      return await verify({ subtle, client: logClient({ at, fetch, signal }) })
    } catch (error) {
      if (error instanceof VerificationFailed) return { kind: 'failed', failure: error.failure }
      if (error instanceof VerificationUnavailable)
        return { kind: 'unavailable', unavailable: error.unavailable }
      throw error
    }
  }

  const checkpointOf = (parts: { subtle: Subtle; client: LogClient }) =>
    verifyCheckpoint({ ...parts, memory, origin, givenKey, now })

  return {
    /** Verifies the checkpoint, and that the history goes on from the remembered one. */
    verifyLog: (options: Options = {}): Promise<LogResult> =>
      settle(options, async (parts) => {
        const { log } = await checkpointOf(parts)
        return { kind: 'verified', log }
      }),

    /**
     * Verifies the log, then that it includes an event as the API listed it. `likely`: the index
     * that the event probably has, such as the one after that of the event before it.
     */
    verifyEvent: (
      listed: ListedEvent,
      { likely, ...options }: Options & { likely?: number | undefined } = {},
    ): Promise<EventResult> =>
      settle(options, async (parts) => {
        const { log, checkpoint } = await checkpointOf(parts)
        const event = await verifyInclusion(parts, { checkpoint, listed, likely })
        return { kind: 'verified', log, event }
      }),

    /** Forgets the remembered checkpoint and key: the next visit is a first visit again. */
    forget: memory.forget,
  }
}
