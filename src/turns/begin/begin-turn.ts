import type { RunView } from '../../../projections/runs.ts'
import type { RuntimePorts } from '../../agents/agent-kind.ts'
import type { FindAgents } from '../../caches/find-agents.ts'
import { runsAtOnceOf } from '../../domain/plan.ts'
import { refusal } from '../../domain/refusal.ts'
import type { Clock } from '../../ports/clock.ts'
import type { Models } from '../../ports/model.ts'
import type { Asker, Delegate } from '../../security/delegate.ts'
import { idFor } from '../../support/ids.ts'
import type { ForkSessions } from '../fork/fork-sessions.ts'
import type { FindTurn } from '../read/find-turn.ts'
import type { FindOrResumeTurn } from '../resume/find-or-resume-turn.ts'
import type { Retention } from '../run/live-turns.ts'
import type { SendTurn } from '../run/send-turn.ts'
import type { Turns } from '../run/turns.ts'
import type { LiveTurn, TurnRequest } from '../turn.ts'
import { type ChosenAgents, chooseAgents } from './choose-agents.ts'
import { findEarlierTurn, type Repetition } from './find-earlier-turn.ts'
import { locateSession } from './locate-session.ts'
import type { ReceiveParts } from './receive-parts.ts'
import type { RequireSubscription } from './require-subscription.ts'
import { requireSupported } from './require-supported.ts'
import type { Retries } from './retries.ts'
import type { StorageQuotas } from './storage-quotas.ts'
import { requireTextLimits } from './text-limits.ts'
import type { Delivery, TurnInput } from './turn-input.ts'
import { receiveFiles, turnRequest } from './turn-request.ts'
import type { WarmAgents } from './warm-agents.ts'

export type BeginTurnUses = {
  delegate: Delegate
  requireSubscription: RequireSubscription
  quotas: Pick<StorageQuotas, 'require'>
  turns: Pick<Turns, 'find'>
  sendTurn: SendTurn
  findOrResumeTurn: FindOrResumeTurn
  retries: Retries
  findAgents: FindAgents
  warmAgents: WarmAgents
  toolsOf: RuntimePorts['toolsOf']
  models: Models
  findRun(runId: string): Promise<RunView | undefined>
  findTurn: Pick<FindTurn, 'placeOf'>
  forkSessions: Pick<ForkSessions, 'fork'>
  receiveParts: ReceiveParts
  clock: Clock
}

/** Whether a turn can be read again after its end. */
const retention: Record<Delivery, Retention> = {
  whole: false,
  progress: false,
  streamed: true,
  background: 'refusal too',
}

/** Steps 7 to 9 of docs/contract/requests.md#order-of-checks, then the turn (docs/a-turn.md). */
export const beginTurn = (uses: BeginTurnUses) => {
  const { delegate, requireSubscription, quotas, sendTurn, warmAgents, clock } = uses
  const earlierTurn = findEarlierTurn(uses)
  const chosenAgents = chooseAgents(uses.findAgents)
  const requireSupport = requireSupported(uses)
  const sessionOf = locateSession(uses)
  const filesOf = receiveFiles(uses.receiveParts)

  /** A turn is activity: it keeps its agents warm. */
  const keepWarm = ({ call, viewer }: TurnRequest, { agent, target }: ChosenAgents): void => {
    warmAgents.used(call.organizationId, viewer.userId, agent.agentId)
    if (target) warmAgents.used(call.organizationId, viewer.userId, target.agentId)
  }

  /** This request is closed: another one may continue its failed run. */
  const refuseClosed = async ({ files }: TurnRequest): Promise<never> => {
    await files?.discard?.()
    throw refusal('service_unavailable')
  }

  /**
   * Begins a turn: for the caller, charged to the key's backing user. A repeated request is
   * answered by the turn that the first one began. @throws Refusal
   */
  return async (
    client: Asker,
    input: TurnInput,
    repetition: Repetition = { kind: 'never' },
  ): Promise<LiveTurn> => {
    requireTextLimits(input)
    const caller = await delegate(client, input.onBehalfOf)
    const earlier = await earlierTurn(caller, repetition)
    if (earlier.turn) return earlier.turn
    const payerId = await requireSubscription(client.access)
    await quotas.require(client.access)
    const messageId = earlier.failed?.messageId ?? idFor(clock, caller.call, 'message')
    const agents = await chosenAgents(client.access.organizationId, input.agent)
    await requireSupport(caller.call, agents, input)
    const place = { messageId, sessionId: earlier.failed?.sessionId }
    const session = await sessionOf(caller, input, place)
    const files = await filesOf(input, session)
    const steps = { input, caller, payerId, messageId, earlier, agents, session, files }
    const request = turnRequest(clock, steps)
    keepWarm(request, agents)
    if (earlier.isClosed()) return refuseClosed(request)
    const runsAtOnce = runsAtOnceOf(client.access.plan)
    const { delivery } = input
    const background = delivery === 'background'
    const turn = sendTurn(request, { keep: retention[delivery], runsAtOnce, background })
    return earlier.record(turn, messageId)
  }
}
export type BeginTurn = ReturnType<typeof beginTurn>
