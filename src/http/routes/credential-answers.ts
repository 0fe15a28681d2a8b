import type { DeleteCredentialCommand } from '../../../commands/delete-credential.ts'
import type { StoreCredential, StoreCredentialCommand } from '../../../commands/store-credential.ts'
import type { GetCredential } from '../../../queries/get-credential.ts'
import type { ListCredentials } from '../../../queries/list-credentials.ts'
import type { Call } from '../../ports/call.ts'

export type CredentialUses = {
  storeCredential: StoreCredentialCommand
  deleteCredential: DeleteCredentialCommand
  listCredentials: ListCredentials
  getCredential: GetCredential
}

/**
 * Answers on a user's credentials: names and times, never a value
 * (docs/contract/provisioned-users.md#credentials).
 */
export const credentialAnswers = (uses: CredentialUses) => {
  const { storeCredential, deleteCredential, listCredentials, getCredential } = uses
  return {
    list: (userId: string, { organizationId }: Call) => listCredentials(organizationId, userId),
    async store(credential: StoreCredential, call: Call) {
      const { created } = await storeCredential(credential, call)
      const { userId, name } = credential
      return { ...(await getCredential(call.organizationId, userId, name)), created }
    },
    async remove(credential: { userId: string; name: string }, call: Call): Promise<void> {
      await deleteCredential(credential, call)
    },
  }
}
