import { latest, type Position } from '../src/domain/event.ts'
import { decideFound, memberStream } from '../src/domain/member/member.ts'
import { decideCreate, organizationStream } from '../src/domain/organization/organization.ts'
import type { PlanId } from '../src/domain/plan.ts'
import { decideEnterFirst, userStream } from '../src/domain/user/user.ts'
import type { Transact } from '../src/event-sourcing/transactor.ts'
import type { Call } from '../src/ports/call.ts'
import type { Clock } from '../src/ports/clock.ts'
import { idFor } from '../src/support/ids.ts'
import type { CreateAgentCommand } from './create-agent.ts'
import type { GrantCreditsCommand } from './grant-credits.ts'
import type { RegisterUserCommand } from './register-user.ts'
import type { SetSubscriptionCommand } from './set-subscription.ts'

type Uses = {
  transact: Transact
  clock: Clock
  registerUser: RegisterUserCommand
  createAgent: CreateAgentCommand
  setSubscription: SetSubscriptionCommand
  grantCredits: GrantCreditsCommand
}

export type CreateOrganization = {
  name: string
  owner: { email: string; name?: string | undefined }
  plan?: PlanId | null | undefined
  /** Micro-credits. */
  credits?: number | undefined
}

const instruction =
  'Answer the user, or hand the conversation to the agent whose description fits it best.'

/**
 * Creates an organization with its owner and its orchestrator. An account with the owner's email
 * becomes the owner. Every step can be repeated by the same call: after a crash, the retry
 * completes the rest.
 */
export const createOrganization =
  ({ transact, clock, registerUser, createAgent, setSubscription, grantCredits }: Uses) =>
  async ({ name, owner, plan, credits }: CreateOrganization, platformCall: Call) => {
    const organizationId = idFor(clock, platformCall, 'organization')
    const agentId = idFor(clock, platformCall, 'orchestrator')
    const call = { ...platformCall, organizationId }
    const { userId } = await registerUser({ ...owner, origin: 'owner' }, call)
    const created = decideCreate({ name, ownerUserId: userId, orchestratorAgentId: agentId })
    const steps: { position: Position }[] = [
      await transact(organizationStream(organizationId), created, call),
      await transact(memberStream(organizationId, userId), decideFound, call),
      await transact(userStream(userId), decideEnterFirst(organizationId), call),
      await createAgent({ name: 'Orchestrator', instruction, agentId }, call),
    ]
    if (plan !== undefined) steps.push(await setSubscription({ userId, plan }, call))
    if (credits)
      steps.push(await grantCredits({ userId, amount: credits, reason: 'initial' }, call))
    const position = latest(...steps.map((step) => step.position))
    return { organizationId, ownerUserId: userId, orchestratorAgentId: agentId, position }
  }
export type CreateOrganizationCommand = ReturnType<typeof createOrganization>
