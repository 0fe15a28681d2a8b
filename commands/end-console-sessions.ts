import {
  consoleSessionsStream,
  decideEndAll,
} from '../src/domain/console-session/console-session.ts'
import type { Transact } from '../src/event-sourcing/transactor.ts'
import type { Call } from '../src/ports/call.ts'

/** Ends the sessions of a key, or all of the caller. */
export const endConsoleSessions =
  ({ transact }: { transact: Transact }) =>
  async ({ of }: { of: { keyId: string } | 'all' }, call: Call) => {
    const { position } = await transact(consoleSessionsStream(call.userId), decideEndAll(of), call)
    return { position }
  }
export type EndConsoleSessionsCommand = ReturnType<typeof endConsoleSessions>
