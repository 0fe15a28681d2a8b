import { getOrganization } from '../queries/get-organization.ts'
import { getAgent, listWholeAgents } from '../queries/list-agents.ts'
import { getApiKey, listApiKeys, listUserKeys } from '../queries/list-api-keys.ts'
import { getMember, listMembers } from '../queries/list-members.ts'
import { listOrganizations } from '../queries/list-organizations.ts'
import type { Commands } from './app-commands.ts'
import type { AllViews } from './app-reads.ts'
import type { Passed } from './http/admin-wire.ts'
import { adminAgentRoutes } from './http/routes/admin-agents.ts'
import { adminApiKeyRoutes } from './http/routes/admin-api-keys.ts'
import { adminMemberRoutes } from './http/routes/admin-members.ts'
import { adminOrganizationRoutes } from './http/routes/admin-organizations.ts'
import { adminProjectionRoutes } from './http/routes/admin-projections.ts'
import { adminUserRoutes } from './http/routes/admin-users.ts'
import { meApiKeyRoutes } from './http/routes/me-api-keys.ts'
import type { Rebuilds } from './rebuilds.ts'
import type { Vault } from './vault.ts'

type Uses = Commands &
  AllViews & {
    open: Vault['open']
    passed: Passed
    rebuilding: Rebuilds
  }

/** What operators and an organization's managers do, and users with their own keys. */
export const adminOf = (uses: Uses) => {
  const { organizations, agents, apiKeys, members, rebuilding } = uses
  const all = { ...uses, getOrganization: getOrganization(organizations) }
  return {
    routes: [
      adminOrganizationRoutes({ ...all, listOrganizations: listOrganizations(organizations) }),
      adminMemberRoutes({ ...all, getMember: getMember(uses), listMembers: listMembers(uses) }),
      adminAgentRoutes({
        ...all,
        getAgent: getAgent(agents),
        listWholeAgents: listWholeAgents(agents),
      }),
      adminApiKeyRoutes({
        ...all,
        getApiKey: getApiKey(apiKeys, members),
        listApiKeys: listApiKeys(apiKeys),
      }),
      adminProjectionRoutes(rebuilding),
      adminUserRoutes(uses),
    ],
    own: [meApiKeyRoutes({ ...uses, listUserKeys: listUserKeys(apiKeys) })],
  }
}
