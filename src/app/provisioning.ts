import { findConnectLink } from '../../queries/find-connect-link.ts'
import { getConnectForm } from '../../queries/get-connect-form.ts'
import { getCredential } from '../../queries/get-credential.ts'
import { getOrganization } from '../../queries/get-organization.ts'
import { listConnectItems } from '../../queries/list-connect-items.ts'
import { listCredentials } from '../../queries/list-credentials.ts'
import { listProvisionedUsers } from '../../queries/list-provisioned-users.ts'
import { requireHttps } from '../http/checks/https.ts'
import { connectRoutes } from '../http/routes/connect.ts'
import { managementConnectRoutes } from '../http/routes/management-connect.ts'
import { managementCredentialRoutes } from '../http/routes/management-credentials.ts'
import { managementPersonalDataRoutes } from '../http/routes/management-personal-data.ts'
import { managementSessionRoutes } from '../http/routes/management-sessions.ts'
import { managementUserRoutes } from '../http/routes/management-users.ts'
import { meCredentialRoutes } from '../http/routes/me-credentials.ts'
import type { Parts } from './parts.ts'
import type { TurnEngine } from './turn-engine.ts'

/** What partners do for the accounts that they make, and what users do for themselves. */
export const provisioningPart = (
  { host, writing, reading, access }: Parts,
  { chat, tools }: TurnEngine,
) => {
  const { config, clock } = host
  const { commands, secrets, vault } = writing
  const { routeCommands, views } = reading
  const { open } = vault
  const { hostsOf } = tools
  const { findAgents, eraseSessions } = chat
  const { agentSummaries, connectLinks, credentials, members, organizations, users } = views
  const { requireErasableUser, requireProvisionedUser } = commands
  const connecting = { agentSummaries, findAgents, credentials, hostsOf }
  const credentialUses = {
    storeCredential: routeCommands.storeCredential,
    deleteCredential: routeCommands.deleteCredential,
    listCredentials: listCredentials({ credentials }),
    getCredential: getCredential({ credentials }),
  }
  return {
    /** The page of a connect link, without a key. */
    openRoutes: [
      connectRoutes({
        connectCredentials: routeCommands.connectCredentials,
        findConnectLink: findConnectLink({
          connectLinks,
          hashLinkToken: secrets.hashLinkToken,
          now: clock.now,
        }),
        requireProvisionedUser,
        getConnectForm: getConnectForm(connecting),
        getOrganization: getOrganization({ organizations }),
        signForm: secrets.signForm,
        requireHttps: requireHttps(config.REQUIRE_HTTPS),
        clock,
      }),
    ],
    /** Under /api/external. */
    routes: [
      managementUserRoutes({
        provisionUser: routeCommands.provisionUser,
        listProvisionedUsers: listProvisionedUsers({
          members,
          users,
          open,
          hashEmail: secrets.hashEmail,
          earlierEmailHashes: secrets.earlierEmailHashes,
        }),
      }),
      managementCredentialRoutes({
        requireErasableUser,
        requireProvisionedUser,
        credentials: credentialUses,
      }),
      managementSessionRoutes({ requireErasableUser, eraseSessions }),
      managementPersonalDataRoutes({
        requireErasableUser,
        eraseMemories: routeCommands.eraseMemories,
        erasePersonalData: routeCommands.erasePersonalData,
      }),
      managementConnectRoutes({
        createConnectLink: routeCommands.createConnectLink,
        revokeConnectLinks: routeCommands.revokeConnectLinks,
        requireProvisionedUser,
        listConnectItems: listConnectItems(connecting),
        baseOf: access.ownPage.baseOf,
      }),
      meCredentialRoutes(credentialUses),
    ],
  }
}
