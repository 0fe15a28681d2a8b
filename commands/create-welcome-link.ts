import {
  decideCreateWelcomeLink,
  welcomeLinkMs,
  welcomeLinkStream,
} from '../src/domain/welcome-link/welcome-link.ts'
import type { Transact } from '../src/event-sourcing/transactor.ts'
import type { Call } from '../src/ports/call.ts'
import { newToken, type Secrets } from '../src/security/secrets.ts'

type Uses = { transact: Transact; hashWelcomeToken: Secrets['hashWelcomeToken'] }

export type CreateWelcomeLink = { organizationId: string; userId: string; keyId: string }

/**
 * A link that signs in to the console once, within an hour, with this key. The token is in the
 * answer and nowhere else.
 */
export const createWelcomeLink =
  ({ transact, hashWelcomeToken }: Uses) =>
  async (of: CreateWelcomeLink, call: Call) => {
    const token = newToken()
    const expiresAt = new Date(Date.parse(call.at) + welcomeLinkMs).toISOString()
    const stream = welcomeLinkStream(hashWelcomeToken(token))
    const { position } = await transact(stream, decideCreateWelcomeLink({ ...of, expiresAt }), call)
    return { token, position }
  }
