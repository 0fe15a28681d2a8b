import { findConnectLink } from '../../queries/find-connect-link.ts'
import type { HostsOf } from '../../queries/find-credential.ts'
import { getConnectForm } from '../../queries/get-connect-form.ts'
import { getCredential } from '../../queries/get-credential.ts'
import { getOrganization } from '../../queries/get-organization.ts'
import { listConnectItems } from '../../queries/list-connect-items.ts'
import { listCredentials } from '../../queries/list-credentials.ts'
import { listProvisionedUsers } from '../../queries/list-provisioned-users.ts'
import type { FindAgents } from '../caches/find-agents.ts'
import type { Config } from '../config.ts'
import { requireHttps } from '../http/checks/https.ts'
import { connectRoutes } from '../http/routes/connect.ts'
import { managementConnectRoutes } from '../http/routes/management-connect.ts'
import { managementCredentialRoutes } from '../http/routes/management-credentials.ts'
import { managementPersonalDataRoutes } from '../http/routes/management-personal-data.ts'
import { managementSessionRoutes } from '../http/routes/management-sessions.ts'
import { managementUserRoutes } from '../http/routes/management-users.ts'
import { meCredentialRoutes } from '../http/routes/me-credentials.ts'
import type { Clock } from '../ports/clock.ts'
import type { Secrets } from '../security/secrets.ts'
import type { Vault } from '../security/vault.ts'
import type { EraseSessions } from '../turns/erase/erase-sessions.ts'
import type { AllViews } from './read-models.ts'
import type { InternalCommands, RouteCommands } from './route-commands.ts'

type Uses = {
  config: Pick<Config, 'PUBLIC_URL' | 'REQUIRE_HTTPS'>
  commands: Pick<InternalCommands, 'requireErasableUser' | 'requireProvisionedUser'>
  routeCommands: Pick<
    RouteCommands,
    | 'connectCredentials'
    | 'createConnectLink'
    | 'deleteCredential'
    | 'eraseMemories'
    | 'erasePersonalData'
    | 'provisionUser'
    | 'revokeConnectLinks'
    | 'storeCredential'
  >
  views: Pick<
    AllViews,
    'agentSummaries' | 'connectLinks' | 'credentials' | 'members' | 'organizations' | 'users'
  >
  findAgents: FindAgents
  secrets: Pick<Secrets, 'hashEmail' | 'earlierEmailHashes' | 'hashLinkToken' | 'signForm'>
  open: Vault['open']
  hostsOf: HostsOf
  eraseSessions: EraseSessions
  clock: Clock
}

/** What partners do for the accounts that they make, and what users do for themselves. */
export const provisioningPart = (uses: Uses) => {
  const { config, commands, routeCommands, views, findAgents, secrets, open, clock } = uses
  const { agentSummaries, connectLinks, credentials, members, organizations, users } = views
  const { requireErasableUser, requireProvisionedUser } = commands
  const connecting = { agentSummaries, findAgents, credentials, hostsOf: uses.hostsOf }
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
      managementSessionRoutes({ requireErasableUser, eraseSessions: uses.eraseSessions }),
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
        publicUrl: config.PUBLIC_URL,
      }),
      meCredentialRoutes(credentialUses),
    ],
  }
}
