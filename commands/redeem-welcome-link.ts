import {
  decideRedeemWelcomeLink,
  requireWelcomeLink,
  welcomeLinkStream,
} from '../src/domain/welcome-link/welcome-link.ts'
import type { Streams } from '../src/event-sourcing/transactor.ts'
import type { Call } from '../src/ports/call.ts'
import type { Secrets } from '../src/security/secrets.ts'
import type { StartConsoleSessionCommand } from './start-console-session.ts'

type Uses = Streams & {
  hashWelcomeToken: Secrets['hashWelcomeToken']
  startConsoleSession: StartConsoleSessionCommand
}

/** Whether a link can be used. @throws welcome_link_not_found */
export const checkWelcomeLink =
  ({ load, hashWelcomeToken }: Omit<Uses, 'transact' | 'startConsoleSession'>) =>
  async (token: string, at: string): Promise<void> => {
    requireWelcomeLink((await load(welcomeLinkStream(hashWelcomeToken(token)))).state, at)
  }
export type CheckWelcomeLink = ReturnType<typeof checkWelcomeLink>

/**
 * Signs in by a link, which is used up first: of two requests, one finds it used.
 * @throws welcome_link_not_found
 */
export const redeemWelcomeLink =
  ({ load, transact, hashWelcomeToken, startConsoleSession }: Uses) =>
  async ({ token }: { token: string }, call: Call) => {
    const stream = welcomeLinkStream(hashWelcomeToken(token))
    const { organizationId, userId, keyId } = requireWelcomeLink(
      (await load(stream)).state,
      call.at,
    )
    const caller = { ...call, organizationId, userId, keyId }
    await transact(stream, decideRedeemWelcomeLink(call.at), caller)
    return startConsoleSession({ method: 'welcome_link' }, caller)
  }
export type RedeemWelcomeLinkCommand = ReturnType<typeof redeemWelcomeLink>
