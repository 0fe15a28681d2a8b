import t from 'tap'
import { agentNamed } from '../support/agents.ts'
import { calls, endOf, outline, says, speaker, stageScene } from '../support/scene.ts'

t.test('transfer to a sub-agent', async (t) => {
  const agents = [
    agentNamed('Root', { subAgents: ['child', 'asleep'] }),
    agentNamed('Child', { description: 'Knows\nall', subAgents: [] }),
    agentNamed('Asleep', { isActive: false }),
  ]
  const to = (name: string) => calls(['transfer_to_agent', JSON.stringify({ agent_name: name })])

  t.test('its answer is the answer of the turn', async (t) => {
    const { all, requests } = stageScene({
      agents,
      script: (request) => (speaker(request) === 'Child' ? says('Here.') : to('child')),
    })
    const events = await all()
    t.strictSame(outline(events), [
      'agent_started Root',
      'model_called',
      'model_answered',
      'agent_routing',
      'agent_started Child',
      'model_called',
      'token Child',
      'model_answered',
      'agent_completed Child',
      'agent_completed Root',
      'done Child',
    ])
    t.match(events[3], { from_agent: 'Root', to_agent: 'Child' })
    t.match(events[4], { depth: 1, parent_agent: 'Root' })
    t.match(endOf(events), { text: 'Here.', usage: { promptTokens: 20 } })
    t.match(requests[0]?.tools, [
      {
        parameters: {
          properties: { agent_name: { enum: ['Child'], description: 'Child: Knows all' } },
        },
      },
    ])
  })

  t.test('an unknown name is told to the model', async (t) => {
    const { all } = stageScene({
      agents,
      script: ({ messages }) =>
        messages.at(-1)?.role === 'tool' ? says(messages.at(-1)?.content ?? '') : to('Asleep'),
    })
    t.equal(endOf(await all()).text, 'Error: there is no such agent')
  })

  t.test('straight to a target, past the model', async (t) => {
    const [, target] = agents
    const { all, requests } = stageScene({ agents, script: () => says('Straight.') })
    const events = await all('Hi', target ? { target } : {})
    t.match(outline(events).slice(0, 3), [
      'agent_started Root',
      'agent_routing',
      'agent_started Child',
    ])
    t.equal(endOf(events).text, 'Straight.')
    t.equal(requests.length, 1)
  })

  t.test('a ring of agents ends at the depth limit', async (t) => {
    const ring = [agentNamed('A', { subAgents: ['b'] }), agentNamed('B', { subAgents: ['a'] })]
    const { all } = stageScene({
      agents: ring,
      script: (request) =>
        request.tools ? to(speaker(request) === 'A' ? 'B' : 'A') : says('Deep.'),
    })
    const events = await all()
    t.equal(endOf(events).text, 'Deep.')
    t.equal(events.filter(({ event }) => event === 'agent_routing').length, 8)
    const container = agentNamed('S', { agentType: 'SEQUENTIAL_AGENT', subAgents: ['s'] })
    await t.rejects(stageScene({ agents: [container], script: () => [] }).all(), {
      name: 'AgentFault',
    })
  })
})
