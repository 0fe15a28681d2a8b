import {
  consoleSessionMs,
  consoleSessionsStream,
  decideStart,
} from '../src/domain/console-session/console-session.ts'
import type { ConsoleSessionEvent } from '../src/domain/console-session/events.ts'
import type { Transact } from '../src/event-sourcing/transactor.ts'
import type { Call } from '../src/ports/call.ts'
import { newToken, type Secrets } from '../src/security/secrets.ts'

type Uses = { transact: Transact; hashConsoleToken: Secrets['hashConsoleToken'] }

export type StartConsoleSession = Pick<
  ConsoleSessionEvent<'ConsoleSessionStarted'>['data'],
  'method' | 'platformKeyHash'
>

/**
 * Signs the caller in to the console for 12 hours, with the key of the call. The token is in the
 * answer and nowhere else.
 */
export const startConsoleSession =
  ({ transact, hashConsoleToken }: Uses) =>
  async ({ method, platformKeyHash }: StartConsoleSession, call: Call) => {
    const { keyId, userId, at } = call
    const token = newToken()
    const expiresAt = new Date(Date.parse(at) + consoleSessionMs).toISOString()
    const tokenHash = hashConsoleToken(token)
    const started = { tokenHash, keyId, platformKeyHash, method, expiresAt }
    const decide = decideStart(started, at)
    const { position } = await transact(consoleSessionsStream(userId), decide, call)
    return { token, expiresAt, position }
  }
export type StartConsoleSessionCommand = ReturnType<typeof startConsoleSession>
