import fc from 'fast-check'
import t from 'tap'
import { decideChange, decideCreate, decideDelete } from '../../../src/domain/agent/agent.ts'
import { type AgentConfigEvent, agentEvents } from '../../../src/domain/agent/events.ts'
import {
  type OrganizationAgents,
  organizationAgents,
  organizationAgentsStream,
} from '../../../src/domain/agent/organization-agents.ts'
import { levelLimit } from '../../../src/domain/agent/valid-agents.ts'
import { evolved } from '../../../src/domain/aggregate.ts'
import { Refusal } from '../../../src/domain/refusal.ts'
import { transactor } from '../../../src/event-sourcing/transactor.ts'
import { configured } from '../../support/configured.ts'
import { opened } from '../../support/opened.ts'
import { call } from '../../support/recorded.ts'
import { clockFrom } from '../../support/ticking.ts'

const ids = Array.from({ length: 12 }, (_, n) => `agent-${n}`)
const [orchestratorAgentId = ''] = ids
const rules = { orchestratorAgentId, modelFault: () => undefined }

type Decide = (state: OrganizationAgents) => AgentConfigEvent[]

const agentId = fc.constantFrom(...ids)
const subAgents = fc.uniqueArray(agentId, { maxLength: 4 })
const change = fc
  .record({ agentId, subAgents })
  .map(({ agentId, subAgents }): Decide => decideChange(agentId, { subAgents }, rules))
const decision: fc.Arbitrary<Decide> = fc.oneof(
  { weight: 6, arbitrary: change },
  { weight: 1, arbitrary: agentId.map((id): Decide => decideDelete(id, rules)) },
  {
    weight: 1,
    arbitrary: fc
      .record({ agentId, subAgents })
      .map(({ agentId, subAgents }) =>
        decideCreate(agentId, configured(agentId, { subAgents }), rules),
      ),
  },
)
/** Long chains, so that decisions at random come near what is refused. */
const start: Decide[] = ids.toReversed().map((id, n) => {
  const below = ids[ids.length - n]
  const subAgents = below && n % levelLimit !== 0 ? [below] : []
  return decideCreate(id, configured(id, { subAgents }), rules)
})

/** The longest way down, walked without a memory of what was counted; endless for a cycle. */
const deepest = ({ agents }: Pick<OrganizationAgents, 'agents'>, id: string, steps = 0): number => {
  if (steps > ids.length) return Number.POSITIVE_INFINITY
  const below = agents[id]?.subAgents ?? []
  return 1 + Math.max(0, ...below.map((next) => deepest({ agents }, next, steps + 1)))
}

const isSound = (state: OrganizationAgents): boolean =>
  Object.entries(state.agents).every(
    ([id, { subAgents }]) =>
      subAgents.every((next) => Object.hasOwn(state.agents, next)) &&
      deepest(state, id) <= (id === orchestratorAgentId ? levelLimit + 1 : levelLimit),
  )

const refusalsAside = (error: unknown): void => {
  if (!(error instanceof Refusal)) throw error
}

t.test('whatever is decided, in whatever order, squads stay sound', async () => {
  fc.assert(
    fc.property(fc.array(decision, { maxLength: 60 }), (decisions) => {
      let state = organizationAgents.initial
      for (const decide of [...start, ...decisions]) {
        try {
          state = evolved(organizationAgents, state, decide(state))
        } catch (error) {
          refusalsAside(error)
        }
        if (!isSound(state)) return false
      }
      return true
    }),
  )
})

t.test('also when two processes decide at once', async (t) => {
  const { store } = await opened(t)
  const snapshots = { get: async () => undefined, put: async () => undefined }
  const clock = clockFrom(call.at)
  const node = () => transactor({ store, snapshots, clock, shared: true }).transact
  let organizations = 0
  await fc.assert(
    fc.asyncProperty(fc.array(fc.tuple(decision, fc.boolean()), { maxLength: 30 }), async (all) => {
      const stream = organizationAgentsStream(`org-${++organizations}`)
      const here = node()
      const there = node()
      for (const decide of start) await here(stream, decide, call)
      await Promise.all(
        all.map(([decide, first]) =>
          (first ? here : there)(stream, decide, call).catch(refusalsAside),
        ),
      )
      let state = organizationAgents.initial
      for await (const batch of store.read(stream.name))
        for (const { type, data } of batch) {
          const event = { type, data: agentEvents[type as AgentConfigEvent['type']].parse(data) }
          state = evolved(organizationAgents, state, [event as AgentConfigEvent])
          if (!isSound(state)) return false
        }
      return Object.keys(state.agents).length > 0
    }),
    { numRuns: 40 },
  )
})
