import { throwError } from 'rxjs'
import t from 'tap'
import type { AgentConfig } from '../../src/agents/agent.ts'
import { type ModelEvent, type ModelRequest, ModelUnavailable } from '../../src/ports/model.ts'
import { agentNamed, type Script } from '../support/agents.ts'
import {
  calls,
  endOf,
  inTurn,
  outline,
  says,
  speaker,
  stageScene,
  tokensOf,
} from '../support/scene.ts'

t.test('sequential', async (t) => {
  const agents = [
    agentNamed('Line', {
      agentType: 'SEQUENTIAL_AGENT',
      subAgents: ['one', 'gone', 'two', 'three'],
    }),
    agentNamed('One', { outputKey: 'draft' }),
    agentNamed('Two', { instruction: 'You are Two. Improve {draft}, not {other}.' }),
    agentNamed('Three'),
  ]
  const { all, requests } = stageScene({
    agents,
    script: (request) => says(`By ${speaker(request)}`),
  })
  const events = await all()
  t.equal(tokensOf(events), 'By One\n\nBy Two\n\nBy Three')
  t.match(endOf(events), { text: tokensOf(events), agent: 'Line', usage: { promptTokens: 30 } })
  t.equal(requests[1]?.messages[0]?.content, 'You are Two. Improve By One, not {other}.')
  t.equal(
    requests[2]?.messages[0]?.content,
    'You are Three.\n\nOther agents have said in this turn:\n\nOne:\nBy One\n\nTwo:\nBy Two',
  )
  const empty = agentNamed('Empty', { agentType: 'SEQUENTIAL_AGENT', subAgents: ['gone'] })
  await t.rejects(stageScene({ agents: [empty], script: () => [] }).all(), { name: 'AgentFault' })
})

t.test('parallel', async (t) => {
  const agents = [
    agentNamed('All', { agentType: 'PARALLEL_AGENT', subAgents: ['left', 'right'] }),
    agentNamed('Left'),
    agentNamed('Right'),
  ]
  t.test('tokens are attributed where they come together', async (t) => {
    const { all } = stageScene({
      agents,
      script: (request) => inTurn(...(speaker(request) === 'Left' ? ['L1', 'L2', 'L3'] : ['R1'])),
    })
    const events = await all()
    const seen = outline(events).filter((line) => line.startsWith('token'))
    t.strictSame(seen, [
      'token_agent Left',
      'token Left',
      'token_agent Right',
      'token Right',
      'token_agent Left',
      'token Left',
      'token Left',
    ])
    t.match(endOf(events), { text: 'Left:\nL1L2L3\n\nRight:\nR1', agent: 'All' })
  })

  t.test('an error in one branch keeps the output of the others', async (t) => {
    const failure = new ModelUnavailable('gone')
    const { all } = stageScene({
      agents,
      script: (request) =>
        speaker(request) === 'Left' ? throwError(() => failure) : says('Still here'),
    })
    const events = await all()
    t.equal(endOf(events).text, 'Left:\n(could not answer)\n\nRight:\nStill here')
    t.match(
      events.find((event) => event.event === 'agent_completed' && event.agent === 'Left'),
      { error: 'ModelUnavailable', answer: null },
    )
    await t.rejects(stageScene({ agents, script: () => throwError(() => failure) }).all(), failure)
  })

  t.test('after it, the next agent is named too', async (t) => {
    const { all } = stageScene({
      agents: [
        agentNamed('Line', { agentType: 'SEQUENTIAL_AGENT', subAgents: ['all', 'last'] }),
        ...agents,
        agentNamed('Last'),
      ],
      script: (request) => says(`By ${speaker(request)}`),
    })
    t.ok(outline(await all()).includes('token_agent Last'))
  })
})

t.test('loop', async (t) => {
  const loop = (more: Partial<AgentConfig>) => [
    agentNamed('Loop', { agentType: 'LOOP_AGENT', subAgents: ['work', 'check'], ...more }),
    agentNamed('Work'),
    agentNamed('Check'),
  ]
  const counting = (script: (n: number, request: ModelRequest) => ModelEvent[]): Script => {
    let n = 0
    return (request) => script(++n, request)
  }
  t.test('three times by default', async (t) => {
    const { all, requests } = stageScene({ agents: loop({}), script: () => says('On') })
    t.equal(endOf(await all()).text, Array(6).fill('On').join('\n\n'))
    t.equal(requests.length, 6)
  })
  t.test('until the exit condition is said, as whole words', async (t) => {
    const script = counting((n) => says(n < 3 ? 'abandoned' : 'All Done.'))
    const { all, requests } = stageScene({ agents: loop({ exitCondition: 'all done' }), script })
    await all()
    t.equal(requests.length, 3)
  })
  t.test('until an agent calls exit_loop, which ends its step too', async (t) => {
    const { all, requests } = stageScene({
      agents: loop({}),
      script: (request) =>
        speaker(request) === 'Work'
          ? says('On')
          : [{ type: 'text', text: 'Good.' }, ...calls(['exit_loop', '{}'])],
    })
    t.match(endOf(await all()), { text: 'On\n\nGood.', finish_reason: 'stop' })
    t.equal(requests.length, 2, 'the model is not asked again')
  })
  t.test('a call of exit_loop that is not made ends nothing', async (t) => {
    const { all, requests } = stageScene({
      agents: loop({ maxIterations: 1 }),
      script: (request) => {
        const last = request.messages.at(-1)
        if (speaker(request) === 'Work' || last?.role === 'tool') return says('On')
        return calls(['exit_loop', 'no object'])
      },
    })
    t.equal(endOf(await all()).text, 'On\n\nOn')
    t.equal(requests.length, 3)
  })
  t.test('an answer in a format may stand beside the call of exit_loop', async (t) => {
    const { all, requests } = stageScene({
      agents: loop({}),
      script: (request) =>
        speaker(request) === 'Work'
          ? says('On')
          : [{ type: 'text', text: '{"a":1}' }, ...calls(['exit_loop', '{}'])],
    })
    t.equal(endOf(await all('Hi', { format: { type: 'json_object' } })).text, '{"a":1}')
    t.equal(requests.length, 2)
  })
  t.test('until an agent calls exit_loop; only the innermost loop ends', async (t) => {
    const outer = agentNamed('Outer', {
      agentType: 'LOOP_AGENT',
      subAgents: ['loop'],
      maxIterations: 2,
    })
    const { all, requests } = stageScene({
      agents: [outer, ...loop({})],
      script: (request) => {
        if (speaker(request) === 'Work') return says('On')
        return [{ type: 'text', text: 'Good.' }, ...calls(['exit_loop', '{}'])]
      },
    })
    t.equal(endOf(await all()).text, 'On\n\nGood.\n\nOn\n\nGood.')
    t.equal(requests.length, 4)
  })
})

t.test('a system message that is too long is refused before it is built', async (t) => {
  const text = 'x'.repeat(16_000)
  const line = (instruction: string, more: object = {}) =>
    stageScene({
      agents: [
        agentNamed('Line', { agentType: 'SEQUENTIAL_AGENT', subAgents: ['one', 'two'] }),
        agentNamed('One', { outputKey: 'a', ...more }),
        agentNamed('Two', { instruction: `You are Two. ${instruction}` }),
      ],
      script: (request) => says(speaker(request) === 'One' ? text : 'Well.'),
    })
  const tooLong = { name: 'ContextTooLong' }
  const filled = line('{a}'.repeat(16_000))
  await t.rejects(filled.all(), tooLong)
  t.equal(filled.requests.length, 1)
  const within = line('{a}'.repeat(60))
  t.match(endOf(await within.all()), { text: `${text}\n\nWell.` })
  t.equal(within.requests[1]?.messages[0]?.content.length, 60 * 16_000 + 'You are Two. '.length)

  const speakers = Array.from({ length: 20 }, (_, n) => `S${n}`)
  const heard = stageScene({
    agents: [
      agentNamed('Line', {
        agentType: 'SEQUENTIAL_AGENT',
        subAgents: [...speakers.map((name) => name.toLowerCase()), 'last'],
      }),
      ...speakers.map((name) => agentNamed(name)),
      agentNamed('Last'),
    ],
    script: () => says('x'.repeat(60_000)),
  })
  await t.rejects(heard.all(), tooLong)
})
