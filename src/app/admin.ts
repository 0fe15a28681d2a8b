import { getOrganization } from '../../queries/get-organization.ts'
import { getAgent, listWholeAgents } from '../../queries/list-agents.ts'
import { getApiKey, listApiKeys, listUserKeys } from '../../queries/list-api-keys.ts'
import { getMember, listMembers } from '../../queries/list-members.ts'
import { listOrganizations } from '../../queries/list-organizations.ts'
import { adminAgentRoutes } from '../http/routes/admin-agents.ts'
import { adminApiKeyRoutes } from '../http/routes/admin-api-keys.ts'
import { adminMemberRoutes } from '../http/routes/admin-members.ts'
import { adminOrganizationRoutes } from '../http/routes/admin-organizations.ts'
import { adminProjectionRoutes } from '../http/routes/admin-projections.ts'
import { adminUserRoutes } from '../http/routes/admin-users.ts'
import { meApiKeyRoutes } from '../http/routes/me-api-keys.ts'
import type { WaitForPosition } from '../ports/views.ts'
import type { RebuildJobs } from '../projector/rebuild-jobs.ts'
import type { Vault } from '../security/vault.ts'
import type { Commands } from './commands.ts'
import type { AllViews } from './read-models.ts'

type Uses = Commands &
  AllViews & {
    open: Vault['open']
    waitForPosition: WaitForPosition
    rebuilding: RebuildJobs
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
