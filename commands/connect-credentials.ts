import { connectStream, requireLink } from '../src/domain/connect/connect.ts'
import type { Transact } from '../src/event-sourcing/transactor.ts'
import type { Call } from '../src/ports/call.ts'
import { checked } from './checked.ts'
import type { RequireProvisionedUser } from './provision-user.ts'
import type { StoreCredentialCommand } from './store-credential.ts'

type Uses = {
  transact: Transact
  requireProvisionedUser: RequireProvisionedUser
  storeCredential: StoreCredentialCommand
}

export type ConnectCredentials = {
  userId: string
  linkId: string
  values: readonly { name: string; value: string }[]
}

/**
 * Stores what a user gave over a connect link.
 * @throws connect_link_not_found, user_not_found, not_provisioned, invalid_input
 */
export const connectCredentials =
  ({ transact, requireProvisionedUser, storeCredential }: Uses) =>
  async ({ userId, linkId, values }: ConnectCredentials, call: Call) => {
    const stream = connectStream(call.organizationId, userId)
    const link = await transact(stream, checked(requireLink(linkId, call.at)), call)
    await requireProvisionedUser(userId, call)
    let { position } = link
    for (const value of values) ({ position } = await storeCredential({ userId, ...value }, call))
    return { position }
  }
export type ConnectCredentialsCommand = ReturnType<typeof connectCredentials>
