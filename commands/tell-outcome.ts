import { canGoOn } from '../src/domain/session/approvals.ts'
import { decideOutcome, type TellOutcome as Outcome } from '../src/domain/session/doubts.ts'
import { sessionStream } from '../src/domain/session/session.ts'
import type { Transact } from '../src/event-sourcing/transactor.ts'
import type { Call } from '../src/ports/call.ts'
import { sessionKey, type Vault } from '../src/security/vault.ts'

export type TellOutcome = Omit<Outcome, 'result'> & {
  sessionId: string
  result: string | undefined
}

/**
 * Records whether a call in doubt was made. `goesOn`: its run is paused, and is to be resumed.
 * @throws tool_not_in_doubt, arguments_changed
 */
export const tellOutcome =
  ({ transact, seal }: { transact: Transact; seal: Vault['seal'] }) =>
  async ({ sessionId, result, ...outcome }: TellOutcome, call: Call) => {
    const { organizationId } = call
    const key = sessionKey(organizationId, sessionId)
    const sealed = result === undefined ? undefined : await seal(key, result)
    const decide = decideOutcome({ ...outcome, result: sealed })
    const stream = sessionStream(organizationId, sessionId)
    const { state, position } = await transact(stream, decide, call)
    return { goesOn: canGoOn(state), position }
  }
export type TellOutcomeCommand = ReturnType<typeof tellOutcome>
