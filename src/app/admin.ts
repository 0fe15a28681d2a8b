import { checkDraft } from '../../commands/check-draft.ts'
import { findBalance } from '../../queries/find-balance.ts'
import { findIdentity } from '../../queries/find-identity.ts'
import { getAgent } from '../../queries/get-agent.ts'
import { getApiKey } from '../../queries/get-api-key.ts'
import { getAttention } from '../../queries/get-attention.ts'
import { getCredits } from '../../queries/get-credits.ts'
import { getMember } from '../../queries/get-member.ts'
import { getOrganization } from '../../queries/get-organization.ts'
import { listApiKeys } from '../../queries/list-api-keys.ts'
import { listBackedKeys } from '../../queries/list-backed-keys.ts'
import { listMembers } from '../../queries/list-members.ts'
import { listMemberships } from '../../queries/list-memberships.ts'
import { listOrganizations } from '../../queries/list-organizations.ts'
import { listUserKeys } from '../../queries/list-user-keys.ts'
import { listWholeAgents } from '../../queries/list-whole-agents.ts'
import { requireCallable } from '../http/checks/agent-tools.ts'
import { accountRoutes } from '../http/routes/account.ts'
import { adminAgentDraftRoutes } from '../http/routes/admin-agent-drafts.ts'
import { adminAgentRoutes } from '../http/routes/admin-agents.ts'
import { adminApiKeyRoutes } from '../http/routes/admin-api-keys.ts'
import { adminAttentionRoutes } from '../http/routes/admin-attention.ts'
import { adminMasterKeyRoutes } from '../http/routes/admin-master-key.ts'
import { adminMemberRoutes } from '../http/routes/admin-members.ts'
import { adminModelRoutes } from '../http/routes/admin-models.ts'
import { adminOrganizationRoutes } from '../http/routes/admin-organizations.ts'
import { adminProjectionRoutes } from '../http/routes/admin-projections.ts'
import { adminUserRoutes } from '../http/routes/admin-users.ts'
import { meApiKeyRoutes } from '../http/routes/me-api-keys.ts'
import { meMembershipRoutes } from '../http/routes/me-memberships.ts'
import type { Parts } from './parts.ts'
import type { TurnEngine } from './turn-engine.ts'

/** What operators and an organization's managers do, and users with their own keys. */
export const adminPart = (
  { host, storage, writing, reading, access }: Parts,
  { chat, tools }: TurnEngine,
) => {
  const { vault, secrets, models, load } = writing
  const { routeCommands: commands, views, writes, rebuilding } = reading
  const { open } = vault
  const { schemas, addressFault, mcp } = tools
  const { accounts, agentSummaries, agents, apiKeys, identities, members, organizations, users } =
    views
  const callable = requireCallable({ schemaFault: schemas.faultOf, addressFault })
  const oneOrganization = getOrganization({ organizations })
  return {
    /** Under /api/admin. */
    routes: [
      adminOrganizationRoutes({
        createOrganization: commands.createOrganization,
        renameOrganization: commands.renameOrganization,
        colorOrganization: commands.colorOrganization,
        getOrganization: oneOrganization,
        getCredits: getCredits({ organizations, users, accounts }),
        listOrganizations: listOrganizations({ organizations }),
      }),
      adminMemberRoutes({
        addMember: commands.addMember,
        changeMember: commands.changeMember,
        removeMember: commands.removeMember,
        getOrganization: oneOrganization,
        getMember: getMember({ members, users, open }),
        listMembers: listMembers({ members, users, open }),
        listBackedKeys: writes.query(listBackedKeys({ apiKeys })),
      }),
      adminAgentRoutes({
        createAgent: commands.createAgent,
        changeAgent: commands.changeAgent,
        deleteAgent: commands.deleteAgent,
        getOrganization: oneOrganization,
        getAgent: getAgent({ agents }),
        listWholeAgents: listWholeAgents({ agents, agentSummaries }),
        requireCallable: callable,
        mcp,
      }),
      adminAgentDraftRoutes({
        checkDraft: checkDraft({ load, clock: host.clock, modelFault: models.modelFault }),
        requireCallable: callable,
        beginTurn: chat.beginTurn,
        defaultModel: models.offer.byDefault,
      }),
      adminModelRoutes({ getOrganization: oneOrganization, offer: models.offer }),
      adminApiKeyRoutes({
        createApiKey: commands.createApiKey,
        changeApiKey: commands.changeApiKey,
        revokeApiKey: commands.revokeApiKey,
        revokeUserKey: commands.revokeUserKey,
        getOrganization: oneOrganization,
        getApiKey: getApiKey({ apiKeys, members }),
        listApiKeys: listApiKeys({ apiKeys }),
      }),
      adminAttentionRoutes({
        getAttention: getAttention(views),
        getOrganization: oneOrganization,
      }),
      adminProjectionRoutes(rebuilding),
      adminMasterKeyRoutes(storage.rotation),
      adminUserRoutes({
        setSubscription: commands.setSubscription,
        grantCredits: commands.grantCredits,
        recordLogin: commands.recordLogin,
        findIdentity: writes.query(findIdentity({ identities, hashSubject: secrets.hashSubject })),
      }),
    ],
    /** Under /api/external. */
    accountRoutes: accountRoutes({
      findBalance: findBalance({ accounts }),
      quotas: access.quotas,
    }),
    /** Under /api/me. */
    ownRoutes: [
      meMembershipRoutes({
        acceptInvitation: commands.acceptInvitation,
        declineInvitation: commands.declineInvitation,
        enterOrganization: commands.enterOrganization,
        listMemberships: listMemberships({ members, organizations, users }),
      }),
      meApiKeyRoutes({
        createApiKey: commands.createApiKey,
        revokeUserKey: commands.revokeUserKey,
        listUserKeys: listUserKeys({ apiKeys }),
      }),
    ],
  }
}
