import { setImmediate as turn } from 'node:timers/promises'
import { NEVER } from 'rxjs'
import t from 'tap'
import { type AgentConfig, LimitReached } from '../../src/agents/agent.ts'
import type { AgentEvent } from '../../src/agents/agent-event.ts'
import { noJournal, nothingUsed } from '../../src/agents/journal.ts'
import type { AgentLimits, ReachedLimit } from '../../src/domain/run-limits.ts'
import type { ModelEvent } from '../../src/ports/model.ts'
import { agentNamed, toolNamed } from '../support/agents.ts'
import { calls, endOf, inTurn, outline, says, stageScene, tokensOf } from '../support/scene.ts'

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
  const { all, requests } = stageScene({ agents: nested(4), script: () => says('Once.') })
  const events = await all()
  t.equal(requests.length, 100)
  t.match(endOf(events), {
    finish_reason: 'length',
    text: tokensOf(events),
    usage: { completionTokens: 200 },
  })
  const count = (event: string) => events.filter((item) => item.event === event).length
  t.equal(count('agent_started'), count('agent_completed'), 'each agent that starts completes')
})

t.test('and after so many steps', async (t) => {
  const { all, requests } = stageScene({
    agents: nested(2),
    script: () => says('Once.'),
    limits: { steps: 7 },
  })
  const events = await all()
  t.equal(events.filter(({ event }) => event === 'agent_started').length, 7)
  t.equal(requests.length, 5)
  t.match(endOf(events), { finish_reason: 'length' })
})

t.test('a tool call is a step: a run without steps left calls nothing', async (t) => {
  let called = 0
  const look = toolNamed('look', async () => {
    called++
    return { ok: true, content: 'Nothing.' }
  })
  const { all, requests } = stageScene({
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
  const { all, requests } = stageScene({
    agents,
    script: () => says('Here.'),
    limits: { modelCalls: 2 },
  })
  t.match(endOf(await all()), { finish_reason: 'length', text: /^One:\nHere\.\n\nTwo:\nHere\./ })
  t.equal(requests.length, 2)
})

t.test('a run within its bounds ends as its model says', async (t) => {
  const { all } = stageScene({
    agents: [agentNamed('Solo')],
    script: () => says('Done.'),
    limits: { modelCalls: 1, steps: 1 },
  })
  t.match(endOf(await all()), { finish_reason: 'stop', text: 'Done.' })
})

t.test('the event loop turns between model calls, and a cancellation gets through', async (t) => {
  const { events, requests } = stageScene({ agents: nested(4), script: () => says('Once.') })
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

type Scene = Parameters<typeof stageScene>[0]

/** A run with limits of its own, to its end: what happened, and the limit that ended it. */
const limited = async (scene: Scene, limits: AgentLimits, ms = 0) => {
  const { events, requests } = stageScene(scene)
  const seen: AgentEvent[] = []
  const journal = { ...noJournal, used: { ...nothingUsed, ms } }
  const reached = await new Promise<ReachedLimit | undefined>((resolve, reject) =>
    events('Hi', { limits, journal }).subscribe({
      next: (event) => seen.push(event),
      error: (error: unknown) =>
        error instanceof LimitReached ? resolve(error.reached) : reject(error),
      complete: () => resolve(undefined),
    }),
  )
  return { reached, seen, requests }
}

t.test('an agent allows a run so many steps', async (t) => {
  let called = 0
  const look = toolNamed('look', async () => {
    called++
    return { ok: true, content: 'Nothing.' }
  })
  const scene: Scene = {
    agents: [agentNamed('Solo', { toolNames: ['look'] })],
    tools: [look],
    script: () => calls(['look', '{}'], ['look', '{}'], ['look', '{}']),
  }
  const { reached, seen, requests } = await limited(scene, { steps: 5 })
  t.strictSame(reached, { limit: 'steps', used: 5, allowed: 5, setBy: 'agent' })
  t.equal(called, 4)
  t.equal(requests.length, 2)
  const results = seen.filter(({ event }) => event === 'tool_completed')
  t.equal(results.length, 4, 'what was called is heard to its end')
  t.match(await limited(scene, { steps: 1 }), { reached: { used: 1 }, requests: { length: 1 } })
})

t.test('loops in loops end at the limits of the agent in front', async (t) => {
  const scene: Scene = { agents: nested(8), script: () => says('Once.') }
  const steps = await limited(scene, { steps: 12 })
  t.equal(steps.reached?.limit, 'steps')
  t.equal(steps.seen.filter(({ event }) => event === 'agent_started').length, 12)
  const tokens = await limited(scene, { tokens: 130 })
  t.match(tokens.reached, { limit: 'tokens', allowed: 130 })
  t.ok((tokens.reached?.used ?? 0) <= 130)
  const credits = await limited(scene, { charge: 130 })
  t.match(credits.reached, { limit: 'credits', allowed: 130 })
})

t.test('the lower of the agent’s and the platform’s limits ends a run', async (t) => {
  const scene: Scene = { agents: nested(2), script: () => says('Once.'), limits: { steps: 7 } }
  t.match(await limited(scene, { steps: 6 }), { reached: { allowed: 6, setBy: 'agent' } })
  const { reached, seen } = await limited(scene, { steps: 8 })
  t.equal(reached, undefined)
  t.match(endOf(seen), {
    finish_reason: 'length',
    limit: { limit: 'steps', used: 7, allowed: 7, setBy: 'platform' },
  })
})

const cut: ModelEvent = {
  type: 'done',
  finishReason: 'length',
  usage: { promptTokens: 10, completionTokens: 2 },
}

t.test('an answer may have what is left, and a cut one is over the limit', async (t) => {
  const solo = agentNamed('Solo')
  const long = await limited({ agents: [solo], script: () => says('Done.') }, { tokens: 90_000 })
  t.equal(long.reached, undefined)
  t.equal(long.requests[0]?.maxTokens, undefined, 'no more is asked of a model than it may take')
  const near = await limited({ agents: [solo], script: () => says('Done.') }, { tokens: 1_000 })
  t.equal(near.reached, undefined)
  const most = near.requests[0]?.maxTokens ?? 0
  t.ok(most > 900 && most < 1_000, `${most} tokens`)
  const short = await limited(
    { agents: [{ ...solo, maxTokens: 50 }], script: () => [{ type: 'text', text: 'A' }, cut] },
    { tokens: 1_000 },
  )
  t.equal(short.requests[0]?.maxTokens, 50, 'what the agent sets holds')
  t.equal(short.reached, undefined)
  const over = await limited(
    { agents: [solo], script: () => [{ type: 'text', text: 'A' }, cut] },
    { charge: 1_000 },
  )
  t.match(over.reached, { limit: 'credits', used: 12, allowed: 1_000 })
  t.equal(tokensOf(over.seen), 'A')
})

t.test('a model that goes on and on is stopped', async (t) => {
  const words = Array.from({ length: 500 }, () => 'on and on ')
  const { reached, seen } = await limited(
    { agents: [agentNamed('Solo')], script: () => inTurn(...words) },
    { tokens: 100 },
  )
  t.match(reached, { limit: 'tokens', allowed: 100 })
  t.ok(tokensOf(seen).length < 500)
})

t.test('nothing is asked where the prompt alone is too much', async (t) => {
  const scene: Scene = { agents: [agentNamed('Solo')], script: () => says('Done.') }
  for (const limits of [{ tokens: 1 }, { charge: 1 }]) {
    const { reached, requests } = await limited(scene, limits)
    t.match(reached, { used: 0, allowed: 1 })
    t.equal(requests.length, 0)
  }
})

t.test('branches side by side end together', async (t) => {
  const agents = [
    agentNamed('All', { agentType: 'PARALLEL_AGENT', subAgents: ['one', 'two', 'three'] }),
    agentNamed('One'),
    agentNamed('Two'),
    agentNamed('Three'),
  ]
  const { reached, requests } = await limited({ agents, script: () => says('Here.') }, { steps: 3 })
  t.match(reached, { limit: 'steps', used: 3 })
  t.equal(requests.length, 2)
})

t.test('time of earlier attempts counts, and a model that is silent is left', async (t) => {
  const scene: Scene = { agents: [agentNamed('Solo')], script: () => NEVER }
  const { reached } = await limited(scene, { seconds: 1 }, 1_000)
  t.match(reached, { limit: 'seconds', used: 1, allowed: 1 })
  const slow: Scene = { ...scene, script: () => NEVER }
  t.match((await limited(slow, { seconds: 5 }, 4_999)).reached, { limit: 'seconds', allowed: 5 })
})
