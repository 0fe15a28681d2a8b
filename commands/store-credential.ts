import {
  credentialsStream,
  decideStore,
  requireCredentialValue,
} from '../src/domain/credential/credential.ts'
import type { Transact } from '../src/event-sourcing/transactor.ts'
import type { Call } from '../src/ports/call.ts'
import { credentialsKey, type Vault } from '../src/security/vault.ts'

export type StoreCredential = { userId: string; name: string; value: string }

/**
 * Stores a user's credential in the call's organization, or puts a new value in the place of an
 * earlier one; `created` tells which. @throws invalid_input
 */
export const storeCredential =
  ({ transact, seal }: { transact: Transact; seal: Vault['seal'] }) =>
  async ({ userId, name, value: text }: StoreCredential, call: Call) => {
    requireCredentialValue(text)
    const sealed = await seal(credentialsKey(call.organizationId, userId), text)
    const stream = credentialsStream(call.organizationId, userId)
    const { events, position } = await transact(stream, decideStore({ name, value: sealed }), call)
    return { name, created: events.some(({ type }) => type === 'CredentialStored'), position }
  }
export type StoreCredentialCommand = ReturnType<typeof storeCredential>
