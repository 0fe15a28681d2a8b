import { credentialsStream, decideDelete } from '../src/domain/credential/credential.ts'
import type { Transact } from '../src/event-sourcing/transactor.ts'
import type { Call } from '../src/ports/call.ts'

export type DeleteCredential = { userId: string; name: string }

/** @throws credential_not_found */
export const deleteCredential =
  ({ transact }: { transact: Transact }) =>
  async ({ userId, name }: DeleteCredential, call: Call) => {
    const stream = credentialsStream(call.organizationId, userId)
    const { position } = await transact(stream, decideDelete(name), call)
    return { position }
  }
export type DeleteCredentialCommand = ReturnType<typeof deleteCredential>
