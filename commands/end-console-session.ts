import { consoleSessionsStream, decideEnd } from '../src/domain/console-session/console-session.ts'
import type { Transact } from '../src/event-sourcing/transactor.ts'
import type { Call } from '../src/ports/call.ts'

/** Ends one session of the caller. */
export const endConsoleSession =
  ({ transact }: { transact: Transact }) =>
  async ({ tokenHash }: { tokenHash: string }, call: Call) => {
    const stream = consoleSessionsStream(call.userId)
    const { position } = await transact(stream, decideEnd(tokenHash), call)
    return { position }
  }
export type EndConsoleSessionCommand = ReturnType<typeof endConsoleSession>
