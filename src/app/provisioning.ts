import { findConnectLink } from '../../queries/find-connect-link.ts'
import { getOrganization } from '../../queries/get-organization.ts'
import { listConnectItems } from '../../queries/list-connect-items.ts'
import { getCredential, listCredentials } from '../../queries/list-credentials.ts'
import { listProvisionedUsers } from '../../queries/list-provisioned-users.ts'
import { listSessionIds } from '../../queries/list-sessions.ts'
import type { Config } from '../config.ts'
import { requireHttps } from '../http/checks/https.ts'
import { connectRoutes } from '../http/routes/connect.ts'
import { managementConnectRoutes } from '../http/routes/management-connect.ts'
import { managementCredentialRoutes } from '../http/routes/management-credentials.ts'
import { managementSessionRoutes } from '../http/routes/management-sessions.ts'
import { managementUserRoutes } from '../http/routes/management-users.ts'
import { meCredentialRoutes } from '../http/routes/me-credentials.ts'
import type { Clock } from '../ports/clock.ts'
import type { WaitForPosition } from '../ports/views.ts'
import type { Secrets } from '../security/secrets.ts'
import type { Vault } from '../security/vault.ts'
import type { Turns } from '../turns/turns.ts'
import type { Commands } from './commands.ts'
import type { AllViews } from './read-models.ts'

type Uses = Commands &
  AllViews & {
    open: Vault['open']
    secrets: Secrets
    turns: Pick<Turns, 'cancel' | 'forget'>
    waitForPosition: WaitForPosition
    /** The last position of the log. */
    head(): Promise<number>
    clock: Clock
    config: Pick<Config, 'PUBLIC_URL' | 'REQUIRE_HTTPS'>
  }

/** What partners do for the accounts that they make, and what users do for themselves. */
export const provisioningOf = (uses: Uses) => {
  const { credentials } = uses
  const { hashEmail, hashLinkToken, signForm } = uses.secrets
  const { clock, config } = uses
  const connectItems = listConnectItems(uses)
  const credentialUses = {
    ...uses,
    listCredentials: listCredentials(credentials),
    getCredential: getCredential(credentials),
  }
  return {
    open: [
      connectRoutes({
        ...uses,
        findConnectLink: findConnectLink({ ...uses, hashLinkToken, now: clock.now }),
        listConnectItems: connectItems,
        getOrganization: getOrganization(uses.organizations),
        signForm,
        requireHttps: requireHttps(config.REQUIRE_HTTPS),
      }),
    ],
    keyed: [
      managementUserRoutes({
        ...uses,
        listProvisionedUsers: listProvisionedUsers({ ...uses, hashEmail }),
      }),
      managementCredentialRoutes(credentialUses),
      managementSessionRoutes({ ...uses, listSessionIds: listSessionIds(uses.sessions) }),
      managementConnectRoutes({
        ...uses,
        listConnectItems: connectItems,
        publicUrl: config.PUBLIC_URL,
      }),
      meCredentialRoutes(credentialUses),
    ],
  }
}
