import { setImmediate as turn } from 'node:timers/promises'
import t from 'tap'
import type { AgentConfig } from '../../src/agents/agent.ts'
import { agentNamed, toolNamed } from '../support/agents.ts'
import { calls, endOf, outline, says, staged, tokensOf } from '../support/scene.ts'

/** Loops in loops, 100 times each, around one agent. */
const nested = (levels: number): AgentConfig[] => {
  const loops = Array.from({ length: levels }, (_, n) =>
    agentNamed(`Loop${n}`, {
      agentType: 'LOOP_AGENT',
      maxIterations: 100,
      subAgents: [n + 1 < levels ? `loop${n + 1}` : 'worker'],
    }),
  )
  return [...loops, agentNamed('Worker')]
}

t.test('loops in loops end after so many model calls, with what was said', async (t) => {
  const { all, requests } = staged({ agents: nested(4), script: () => says('Once.') })
  const events = await all()
  t.equal(requests.length, 100)
  t.match(endOf(events), {
    finish_reason: 'length',
    text: tokensOf(events),
    usage: { completionTokens: 200 },
  })
  const count = (event: string) => events.filter((one) => one.event === event).length
  t.equal(count('agent_started'), count('agent_completed'), 'each agent that starts completes')
})

t.test('and after so many steps', async (t) => {
  const { all, requests } = staged({
    agents: nested(2),
    script: () => says('Once.'),
    limits: { steps: 7 },
  })
  const events = await all()
  t.equal(events.filter(({ event }) => event === 'agent_started').length, 7)
  t.equal(requests.length, 5)
  t.match(endOf(events), { finish_reason: 'length' })
})

t.test('a tool call is a step: what has none left is not called', async (t) => {
  let called = 0
  const look = toolNamed('look', async () => {
    called++
    return { ok: true, content: 'Nothing.' }
  })
  const { all, requests } = staged({
    agents: [agentNamed('Solo', { toolNames: ['look'] })],
    tools: [look],
    script: () => calls(['look', '{}'], ['look', '{}'], ['look', '{}']),
    limits: { steps: 5 },
  })
  t.match(endOf(await all()), { finish_reason: 'length', text: '' })
  t.equal(called, 4)
  t.equal(requests.length, 2)
})

t.test('branches side by side share what is left', async (t) => {
  const agents = [
    agentNamed('All', { agentType: 'PARALLEL_AGENT', subAgents: ['one', 'two', 'three'] }),
    agentNamed('One'),
    agentNamed('Two'),
    agentNamed('Three'),
  ]
  const { all, requests } = staged({
    agents,
    script: () => says('Here.'),
    limits: { modelCalls: 2 },
  })
  t.match(endOf(await all()), { finish_reason: 'length', text: /^One:\nHere\.\n\nTwo:\nHere\./ })
  t.equal(requests.length, 2)
})

t.test('a run within its bounds ends as its model says', async (t) => {
  const { all } = staged({
    agents: [agentNamed('Solo')],
    script: () => says('Done.'),
    limits: { modelCalls: 1, steps: 1 },
  })
  t.match(endOf(await all()), { finish_reason: 'stop', text: 'Done.' })
})

t.test('the event loop turns between model calls, and a cancellation gets through', async (t) => {
  const { events, requests } = staged({ agents: nested(4), script: () => says('Once.') })
  const seen: string[] = []
  const running = events().subscribe((event) => seen.push(...outline([event])))
  t.equal(requests.length, 1, 'the first call waits for nothing')
  for (let n = 0; n < 5; n++) await turn()
  const before = requests.length
  t.ok(before > 1 && before < 10, `${before} calls in five turns`)
  running.unsubscribe()
  for (let n = 0; n < 5; n++) await turn()
  t.equal(requests.length, before)
  t.notOk(seen.includes('done'))
})
