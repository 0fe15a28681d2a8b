import { connectItems, requireItems } from '../src/domain/agent/connect-items.ts'
import {
  agentIn,
  organizationAgentsStream,
  requireAgent,
} from '../src/domain/agent/organization-agents.ts'
import { connectStream, decideCreateLink, linkMs } from '../src/domain/connect/connect.ts'
import { memberStream, requireProvisioned } from '../src/domain/member/member.ts'
import type { Streams } from '../src/event-sourcing/transactor.ts'
import type { Call } from '../src/ports/call.ts'
import type { Clock } from '../src/ports/clock.ts'
import { newToken, type Secrets } from '../src/security/secrets.ts'

type Uses = Streams & { clock: Clock; hashLinkToken: Secrets['hashLinkToken'] }

export type CreateConnectLink = { userId: string; agentId: string; returnUrl: string }

/**
 * A link that holds for 30 minutes; its token is in the answer and nowhere else.
 * @throws user_not_found, not_provisioned, agent_not_found, nothing_to_connect
 */
export const createConnectLink =
  ({ load, transact, clock, hashLinkToken }: Uses) =>
  async ({ userId, agentId, returnUrl }: CreateConnectLink, call: Call) => {
    const { organizationId } = call
    requireProvisioned((await load(memberStream(organizationId, userId))).state)
    const { agents } = (await load(organizationAgentsStream(organizationId))).state
    requireAgent(agents, agentId)
    requireItems(connectItems(agentId, (id) => agentIn(agents, id)))
    const linkId = clock.id()
    const token = newToken()
    const expiresAt = new Date(Date.parse(call.at) + linkMs).toISOString()
    const tokenHash = hashLinkToken(token)
    const decide = decideCreateLink({ linkId, tokenHash, agentId, returnUrl, expiresAt })
    const { position } = await transact(connectStream(organizationId, userId), decide, call)
    return { linkId, token, expiresAt, position }
  }
export type CreateConnectLinkCommand = ReturnType<typeof createConnectLink>
