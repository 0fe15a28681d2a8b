import { connectStream, requireLink } from '../src/domain/connect/connect.ts'
import type { Load } from '../src/event-sourcing/transactor.ts'
import type { Call } from '../src/ports/call.ts'
import type { RequireProvisionedUser } from './require-provisioned-user.ts'
import type { StoreCredentialCommand } from './store-credential.ts'

type Uses = {
  load: Load
  requireProvisionedUser: RequireProvisionedUser
  storeCredential: StoreCredentialCommand
}

export type ConnectCredentials = {
  userId: string
  linkId: string
  /** Values with the hosts shown on the page. */
  values: readonly { name: string; value: string; hosts: readonly string[] }[]
}

/**
 * Stores what a user gave over a connect link.
 * @throws connect_link_not_found, user_not_found, not_provisioned, invalid_input
 */
export const connectCredentials =
  ({ load, requireProvisionedUser, storeCredential }: Uses) =>
  async ({ userId, linkId, values }: ConnectCredentials, call: Call) => {
    const links = await load(connectStream(call.organizationId, userId))
    requireLink(linkId, call.at)(links.state)
    await requireProvisionedUser(userId, call)
    let { position } = links
    for (const value of values) ({ position } = await storeCredential({ userId, ...value }, call))
    return { position }
  }
export type ConnectCredentialsCommand = ReturnType<typeof connectCredentials>
