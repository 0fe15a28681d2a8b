import t from 'tap'
import {
  agentLimit,
  decideChange,
  decideCreate,
  decideDelete,
} from '../../../src/domain/agent/agent.ts'
import type { AgentConfigEvent, AgentConfiguration } from '../../../src/domain/agent/events.ts'
import { organizationAgents } from '../../../src/domain/agent/organization-agents.ts'
import type { Change } from '../../../src/domain/changes.ts'
import { Refusal } from '../../../src/domain/refusal.ts'
import { configured, created } from '../../support/configured.ts'
import { deciding } from '../../support/given.ts'

const rules = {
  orchestratorAgentId: 'orchestrator',
  modelFault: (name: string) => (name.startsWith('test/') ? undefined : `no ${name}`),
}

const create = (agentId: string, more: Partial<AgentConfiguration> = {}) =>
  decideCreate(agentId, configured(agentId, more), rules)
const change = (agentId: string, change: Change<AgentConfiguration>) =>
  decideChange(agentId, change, rules)
const remove = (agentId: string) => decideDelete(agentId, rules)

const changed = (agentId: string, data: Partial<AgentConfiguration>): AgentConfigEvent => ({
  type: 'AgentChanged',
  data: { agentId, ...data },
})
const deleted = (agentId: string): AgentConfigEvent => ({ type: 'AgentDeleted', data: { agentId } })

/** a runs b, b runs c, and so on. */
const chain = (...ids: string[]): AgentConfigEvent[] =>
  ids.toReversed().map((id) => {
    const next = ids[ids.indexOf(id) + 1]
    return created(id, { subAgents: next === undefined ? [] : [next] })
  })

t.test('creating', async (t) => {
  const given = deciding(t, organizationAgents)
  given().when(create('a')).emitsOnce(created('a'))
  given(created('a'))
    .when(create('a', { name: 'another' }))
    .changesNothing()
  given()
    .when(create('a', { subAgents: ['b'] }))
    .refuses('unknown_sub_agent')
  given(created('b'), deleted('b'))
    .when(create('a', { subAgents: ['b'] }))
    .refuses('unknown_sub_agent')
  given()
    .when(create('a', { subAgents: ['a'] }))
    .refuses('agent_cycle')
  given()
    .when(create('a', { subAgents: ['constructor'] }))
    .refuses('unknown_sub_agent')
  given()
    .when(create('a', { instruction: 'x'.repeat(100_000) }))
    .refuses('too_complex')
  const full = Array.from({ length: agentLimit }, (_, n) => created(`agent ${n}`))
  given(...full)
    .when(create('a'))
    .refuses('agent_limit_reached')
  given(...full, deleted('agent 7'))
    .when(create('a'))
    .emits(created('a'))
})

t.test(
  'LLM agents have a model, or the default when a turn runs; all others have none',
  async (t) => {
    const given = deciding(t, organizationAgents)
    const sequential = { agentType: 'SEQUENTIAL_AGENT', model: null } as const
    given()
      .when(create('a', { model: null }))
      .emits(created('a', { model: null }))
    given()
      .when(create('a', { ...sequential, model: 'test/model' }))
      .emits(created('a', sequential))
    given(created('a'))
      .when(change('a', { agentType: 'SEQUENTIAL_AGENT' }))
      .emitsOnce(changed('a', sequential))
    given(created('a', sequential))
      .when(change('a', { agentType: 'LLM_AGENT' }))
      .emitsOnce(changed('a', { agentType: 'LLM_AGENT' }))
  },
)

t.test('a model that there is not', async (t) => {
  const given = deciding(t, organizationAgents)
  const orphan = created('a', { model: 'gone/model' })
  given()
    .when(create('a', { model: 'gone/model' }))
    .refuses('unknown_model')
  given(created('a'))
    .when(change('a', { model: 'gone/model' }))
    .refuses('unknown_model')
  given(orphan)
    .when(change('a', { name: 'Still changed' }))
    .emitsOnce(changed('a', { name: 'Still changed' }))
  given(orphan)
    .when(change('a', { model: null }))
    .emitsOnce(changed('a', { model: null }))
})

t.test('changing', async (t) => {
  const given = deciding(t, organizationAgents)
  given(created('a'))
    .when(change('a', { isActive: false, description: '' }))
    .emitsOnce(changed('a', { isActive: false }))
  given().when(change('a', {})).refuses('agent_not_found')
  given(created('a'), deleted('a')).when(change('a', {})).refuses('agent_not_found')
  given(created('a'))
    .when(change('a', { name: undefined }))
    .changesNothing()
  given(...chain('a', 'b', 'c'))
    .when(change('c', { subAgents: ['a'] }))
    .refuses('agent_cycle')
  given(...chain('a', 'b', 'c'))
    .when(change('b', { subAgents: [] }))
    .emits(changed('b', { subAgents: [] }))
  given(...chain('a', 'b', 'c'), changed('b', { subAgents: [] }))
    .when(change('c', { subAgents: ['a'] }))
    .emitsOnce(changed('c', { subAgents: ['a'] }))
  given(created('shared'), created('a', { subAgents: ['shared'] }), created('b'))
    .when(change('b', { subAgents: ['shared'] }))
    .emitsOnce(changed('b', { subAgents: ['shared'] }))
})

t.test('a refusal names the way round', async (t) => {
  const state = chain('a', 'b', 'c').reduce(
    (state, { data, type }) =>
      type === 'AgentCreated' ? organizationAgents.evolve.AgentCreated(state, data) : state,
    organizationAgents.initial,
  )
  t.throws(
    () => change('c', { subAgents: ['a'] })(state),
    new Refusal('agent_cycle', {
      field: 'subAgents',
      message: 'An agent cannot run itself: c → a → b → c',
    }),
  )
  t.throws(
    () => change('c', { subAgents: ['b', 'nobody'] })(state),
    new Refusal('unknown_sub_agent', {
      field: 'subAgents.1',
      message: 'The organization has no agent nobody',
    }),
  )
})

t.test('eight agents run one below the other, under the orchestrator', async (t) => {
  const given = deciding(t, organizationAgents)
  const eight = chain('a', 'b', 'c', 'd', 'e', 'f', 'g', 'h')
  given(...eight)
    .when(create('top', { subAgents: ['a'] }))
    .refuses('agent_depth')
  given(...eight)
    .when(create('orchestrator', { subAgents: ['a'] }))
    .emits(created('orchestrator', { subAgents: ['a'] }))
  given(...eight, created('low'))
    .when(change('h', { subAgents: ['low'] }))
    .refuses('agent_depth')
  given(...eight, created('low'))
    .when(change('g', { subAgents: ['h', 'low'] }))
    .emitsOnce(changed('g', { subAgents: ['h', 'low'] }))
})

t.test('sub-agents of one agent are told apart by name', async (t) => {
  const given = deciding(t, organizationAgents)
  const twins = [created('a'), created('b', { name: ' A ' }), created('c')]
  given(...twins)
    .when(create('top', { subAgents: ['a', 'c'] }))
    .emits(created('top', { subAgents: ['a', 'c'] }))
  given(...twins)
    .when(create('top', { subAgents: ['a', 'b'] }))
    .refuses('agent_name_taken')
  given(...twins)
    .when(create('top', { subAgents: ['a', 'a'] }))
    .refuses('agent_name_taken')
  given(...twins, created('top', { subAgents: ['a', 'c'] }))
    .when(change('c', { name: 'A' }))
    .refuses('agent_name_taken')
})

t.test('the orchestrator stays', async (t) => {
  const given = deciding(t, organizationAgents)
  const orchestrator = created('orchestrator')
  given(orchestrator).when(remove('orchestrator')).refuses('orchestrator_required')
  given(orchestrator)
    .when(change('orchestrator', { isActive: false }))
    .refuses('orchestrator_required')
  given(orchestrator)
    .when(change('orchestrator', { agentType: 'LOOP_AGENT' }))
    .refuses('orchestrator_required')
  given(orchestrator)
    .when(change('orchestrator', { instruction: 'Route.' }))
    .emitsOnce(changed('orchestrator', { instruction: 'Route.' }))
})

t.test('deleting', async (t) => {
  const given = deciding(t, organizationAgents)
  given(created('a')).when(remove('a')).emitsOnce(deleted('a'))
  given().when(remove('a')).refuses('agent_not_found')
  given(...chain('a', 'b'))
    .when(remove('b'))
    .refuses('agent_in_use')
  given(...chain('a', 'b'), changed('a', { subAgents: [] }))
    .when(remove('b'))
    .emitsOnce(deleted('b'))
  given(...chain('a', 'b'), deleted('a'))
    .when(remove('b'))
    .emitsOnce(deleted('b'))
})
