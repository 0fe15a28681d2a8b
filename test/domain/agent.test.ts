import t from 'tap'
import { agent, decideCreate } from '../../src/domain/agent/agent.ts'
import { type AgentEvent, agentEvents } from '../../src/domain/agent/events.ts'
import { evolved } from '../../src/domain/aggregate.ts'
import { sample } from '../support/events.ts'
import { deciding } from '../support/given.ts'

const created: AgentEvent<'AgentCreated'> = {
  type: 'AgentCreated',
  data: agentEvents.AgentCreated.parse(sample('AgentCreated').data),
}
const deleted: AgentEvent = { type: 'AgentDeleted', data: {} }

t.test('creating', async (t) => {
  const given = deciding(t, agent)
  given().when(decideCreate(created.data)).emitsOnce(created)
  given(created, deleted).when(decideCreate(created.data)).changesNothing()
})

t.test('a change leaves what it does not name', async (t) => {
  const changed: AgentEvent = { type: 'AgentChanged', data: { isActive: false, model: null } }
  t.strictSame(evolved(agent, agent.initial, [created, changed]), {
    status: 'created',
    configuration: { ...created.data, isActive: false, model: null },
  })
})
