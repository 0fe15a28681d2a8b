import { z } from 'zod'
import type { DeleteCredentialCommand } from '../../../commands/delete-credential.ts'
import type { StoreCredentialCommand } from '../../../commands/store-credential.ts'
import { credentialView } from '../../../projections/credentials.ts'
import type { GetCredential } from '../../../queries/get-credential.ts'
import type { ListCredentials } from '../../../queries/list-credentials.ts'
import { credentialName } from '../../domain/credential/credential.ts'
import type { Call } from '../../ports/call.ts'
import type { WaitForPosition } from '../../ports/views.ts'

export type CredentialUses = {
  storeCredential: StoreCredentialCommand
  deleteCredential: DeleteCredentialCommand
  listCredentials: ListCredentials
  getCredential: GetCredential
  waitForPosition: WaitForPosition
}

export const named = z.object({
  name: z
    .string()
    .regex(credentialName, 'A name is capitals, digits and _, begins with a letter, at most 64'),
})

export const credentialBody = z.object({ value: z.string().min(1).max(8_192) })

const credential = credentialView.pick({ name: true, created_at: true, updated_at: true })

export const storedCredential = credential.extend({
  created: z.boolean().describe('false: the value replaced an earlier one'),
})

export const credentialList = z.object({ credentials: z.array(credential), total: z.int() })

/** Answers on a user's credentials: names and times, never a value (docs/contract/provisioned-users.md#credentials). */
export const credentialAnswers = (uses: CredentialUses) => {
  const { storeCredential, deleteCredential, listCredentials, getCredential, waitForPosition } =
    uses
  return {
    list: (userId: string, { organizationId }: Call) => listCredentials(organizationId, userId),
    async store(credential: { userId: string; name: string; value: string }, call: Call) {
      const { created, position } = await storeCredential(credential, call)
      await waitForPosition(position)
      const { userId, name } = credential
      return { ...(await getCredential(call.organizationId, userId, name)), created }
    },
    async remove(credential: { userId: string; name: string }, call: Call): Promise<void> {
      const { position } = await deleteCredential(credential, call)
      await waitForPosition(position)
    },
  }
}
