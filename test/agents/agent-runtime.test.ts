import t from 'tap'
import type { AgentTurn } from '../../src/agents/turn.ts'
import { agentNamed, type Script } from '../support/agents.ts'
import { calls, endOf, says, speaker, stageScene } from '../support/scene.ts'

t.test('one LLM agent: the whole stream of a turn', async (t) => {
  const { all, requests } = stageScene({
    agents: [agentNamed('Solo', { temperature: 0.5, maxTokens: 9 })],
    script: () => says('Hello ', 'you'),
  })
  const names = { agent: 'Solo', agent_id: 'solo', step_id: 'id-1' }
  const timestamp = '2026-01-01T00:00:00.000Z'
  const usage = { promptTokens: 10, completionTokens: 2 }
  t.strictSame(await all('Hi', { history: [{ role: 'user', content: 'Before' }] }), [
    {
      event: 'agent_started',
      ...names,
      at: '0',
      agent_type: 'LLM_AGENT',
      depth: 0,
      parent_agent: null,
      timestamp,
    },
    {
      event: 'model_called',
      step_id: 'id-1',
      model: 'test/model',
      price: { prompt: 1, completion: 1 },
      prompt_tokens: 8 + 5 + 5,
    },
    { event: 'token', agent: 'Solo', step_id: 'id-1', text: 'Hello ' },
    { event: 'token', agent: 'Solo', step_id: 'id-1', text: 'you' },
    {
      event: 'model_answered',
      step_id: 'id-1',
      at: '0/1',
      agent: 'Solo',
      model: 'test/model',
      price: { prompt: 1, completion: 1 },
      usage,
      finish_reason: 'stop',
      text: 'Hello you',
      calls: [],
      duration_ms: 0,
    },
    {
      event: 'agent_completed',
      ...names,
      at: '0',
      duration_ms: 0,
      usage,
      charge: 12,
      model: 'test/model',
      answer: {
        text: 'Hello you',
        by: 'Solo',
        finishReason: 'stop',
        outputs: [{ agent: 'Solo', key: null, text: 'Hello you' }],
      },
      timestamp,
    },
    {
      event: 'done',
      text: 'Hello you',
      agent: 'Solo',
      finish_reason: 'stop',
      usage,
      charges: [{ model: 'test/model', price: { prompt: 1, completion: 1 }, usage, charge: 12 }],
    },
  ])
  t.strictSame(requests, [
    {
      model: 'model',
      temperature: 0.5,
      maxTokens: 9,
      messages: [
        { role: 'system', content: 'You are Solo.' },
        { role: 'user', content: 'Before' },
        { role: 'user', content: 'Hi' },
      ],
    },
  ])
  await all('Hi', { settings: { temperature: 1 } })
  t.equal(requests[1]?.temperature, 1, 'the caller wins over the agent')
})

t.test('keyword tool calls on the answer', async (t) => {
  const { all } = stageScene({
    agents: [agentNamed('Solo')],
    script: ({ messages }) => says(messages.at(-1)?.content ?? ''),
  })
  t.match(endOf(await all('Well, GOODBYE.')), {
    finish_reason: 'tool_calls',
    tool_calls: [{ id: /^call_/, name: 'end_call', arguments: '{}' }],
  })
  t.match(endOf(await all('I get you a  human\nagent. Bye')).tool_calls, [
    { name: 'end_call' },
    { name: 'transfer_call' },
  ])
  t.match(endOf(await all('The bypass')), { finish_reason: 'stop' })
  t.notOk('tool_calls' in endOf(await all('The bypass')))
})

const words = 'Goodbye. A human agent calls you.'
const clientTool = (name: string) => ({
  specs: [{ name, description: '', parameters: {}, client: true as const }],
  callId: () => 'call_1',
})

t.test('words call only the tools that the request offers under these names', async (t) => {
  const { all } = stageScene({ agents: [agentNamed('Solo')], script: () => says(words) })
  const callsOf = async (more: Partial<AgentTurn>) =>
    endOf(await all('Hi', more)).tool_calls?.map(({ name }) => name)
  t.strictSame(await callsOf({}), ['end_call', 'transfer_call'])
  t.strictSame(await callsOf({ keywordTools: ['end_call'] }), ['end_call'])
  t.strictSame(await callsOf({ keywordTools: [] }), undefined)
  t.strictSame(await callsOf({ clientTools: clientTool('lookup') }), undefined)
  t.strictSame(await callsOf({ clientTools: clientTool('end_call'), keywordTools: ['end_call'] }), [
    'end_call',
  ])
})

t.test('words of an agent without keyword tools call none, also below another', async (t) => {
  const to = calls(['transfer_to_agent', '{"agent_name":"Below"}'])
  const script: Script = (request) => (speaker(request) === 'First' ? to : says(words))
  const reasonOf = async (first: boolean, below: boolean) => {
    const agents = [
      agentNamed('First', { subAgents: ['below'], keywordTools: first }),
      agentNamed('Below', { keywordTools: below }),
    ]
    return endOf(await stageScene({ agents, script }).all()).finish_reason
  }
  t.equal(await reasonOf(true, false), 'stop')
  t.equal(await reasonOf(false, true), 'tool_calls', 'the agent that answers decides')
  const silent = stageScene({ agents: [agentNamed('Solo', { keywordTools: false })], script })
  t.equal(endOf(await silent.all()).finish_reason, 'stop')
})

t.test('of agents of one name the one that answers decides on keyword tools', async (t) => {
  const agents = [
    agentNamed('First', { subAgents: ['below'] }),
    agentNamed('Below'),
    agentNamed('Quiet', { name: 'Below', keywordTools: false }),
    agentNamed('Elsewhere', { name: 'First', keywordTools: false }),
  ]
  const to = calls(['transfer_to_agent', '{"agent_name":"Below"}'])
  const reasonOf = async (script: Script, from = agents) =>
    endOf(await stageScene({ agents: from, script }).all()).finish_reason
  const handsOver: Script = (request) => (speaker(request) === 'First' ? to : says(words))
  t.equal(await reasonOf(() => says(words)), 'tool_calls')
  t.equal(await reasonOf(handsOver), 'tool_calls')
  const [first, below, quiet] = agents
  if (!first || !below || !quiet) throw new Error('there are three')
  t.equal(await reasonOf(handsOver, [first, quiet, below]), 'tool_calls', 'in any order')
})

t.test('words of an answer that was cut off call no tool, so that its end is told', async (t) => {
  for (const finishReason of ['length', 'content_filter'] as const) {
    const [text, done] = says(words)
    if (!text || !done) throw new Error('there is a text and an end')
    const script: Script = () => [text, { ...done, finishReason } as typeof done]
    const end = endOf(await stageScene({ agents: [agentNamed('Solo')], script }).all())
    t.equal(end.finish_reason, finishReason)
    t.notOk('tool_calls' in end)
  }
})
