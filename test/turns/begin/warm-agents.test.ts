import { from } from 'rxjs'
import t from 'tap'
import type { AgentConfig } from '../../../src/agents/agent.ts'
import type { Tool } from '../../../src/agents/tool.ts'
import { deferred } from '../../../src/support/deferred.ts'
import { warmAgents } from '../../../src/turns/begin/warm-agents.ts'
import { agentNamed, fixedClock, scripted, toolNamed, turnOf } from '../../support/agents.ts'

const hour = 3_600_000
const tool = toolNamed('look', async () => ({ ok: true, content: '' }))
const { call } = turnOf(agentNamed('Any'), '')

/** An orchestrator with a sub-agent and a tool; each build waits until it is let go. */
const scene = () => {
  let now = fixedClock().now().getTime()
  let orchestrator: AgentConfig = agentNamed('Orchestrator', { subAgents: ['helper'] })
  const helper = agentNamed('Helper')
  const builds: ((tools: readonly Tool[] | Error) => void)[] = []
  const warm = warmAgents({
    clock: { now: () => new Date(now), monotonic: () => now, id: () => 'id' },
    findAgents: async () => ({
      orchestrator,
      agents: new Map([orchestrator, helper].map((agent) => [agent.agentId, agent])),
    }),
    models: scripted(() => {
      throw new Error('a model was called')
    }),
    toolsOf: () => {
      const built = deferred<readonly Tool[]>()
      builds.push((tools) => (tools instanceof Error ? built.reject(tools) : built.resolve(tools)))
      return from(built.promise)
    },
  })
  /** Resolves when so many builds have begun in all. */
  const waitForBuilds = async (count: number) => {
    while (builds.length < count) await new Promise(setImmediate)
  }
  return {
    warm,
    helper,
    builds,
    waitForBuilds,
    pass: (ms: number) => {
      now += ms
    },
    configure: (instruction: string) => {
      orchestrator = { ...orchestrator, instruction }
    },
  }
}

t.test('who comes while it is built joins the build; then it is warm', async (t) => {
  const { warm, builds, waitForBuilds } = scene()
  const both = Promise.all([warm.warm(call, 'ann'), warm.warm(call, 'ann')])
  await waitForBuilds(1)
  builds[0]?.([tool])
  const counts = { subAgents: 1, tools: 1 }
  t.match(await both, [
    { status: 'built', ...counts },
    { status: 'built', ...counts },
  ])
  t.match(await warm.warm(call, 'ann'), { status: 'warm', ...counts })
  t.equal(builds.length, 1)
})

t.test('each user and each agent has an instance of its own', async (t) => {
  const { warm, helper, builds, waitForBuilds } = scene()
  const first = warm.warm(call, 'ann')
  await waitForBuilds(1)
  builds[0]?.([])
  await first
  const second = warm.warm(call, 'bob')
  await waitForBuilds(2)
  builds[1]?.([])
  t.match(await second, { status: 'built' })
  const third = warm.warm(call, 'ann', helper)
  await waitForBuilds(3)
  builds[2]?.([tool, tool])
  t.match(await third, { status: 'built', tools: 0 }, "the counts are the orchestrator's")
  t.match(await warm.warm(call, 'ann', helper), { status: 'warm' })
})

t.test('a changed configuration is built anew', async (t) => {
  const { warm, configure, builds, waitForBuilds } = scene()
  const before = warm.warm(call, 'ann')
  await waitForBuilds(1)
  builds[0]?.([])
  await before
  configure('Be brief.')
  const after = warm.warm(call, 'ann')
  await waitForBuilds(2)
  builds[1]?.([])
  t.match(await after, { status: 'built' })
})

t.test('a build that fails is told to all who wait, and tried again', async (t) => {
  const { warm, builds, waitForBuilds } = scene()
  const failing = [warm.warm(call, 'ann'), warm.warm(call, 'ann')]
  await waitForBuilds(1)
  builds[0]?.(new Error('no such server'))
  for (const build of failing) await t.rejects(build, { message: 'no such server' })
  const again = warm.warm(call, 'ann')
  await waitForBuilds(2)
  builds[1]?.([])
  t.match(await again, { status: 'built' })
})

t.test('an agent that nobody used for an hour is dropped', async (t) => {
  const { warm, pass, builds, waitForBuilds } = scene()
  for (const [n, user] of ['ann', 'bob', 'cy'].entries()) {
    const warming = warm.warm(call, user)
    await waitForBuilds(n + 1)
    builds[n]?.([])
    await warming
  }
  pass(hour - 1)
  t.equal(warm.release(), 0)
  await warm.warm(call, 'ann')
  warm.used(call.organizationId, 'bob', 'orchestrator')
  warm.used(call.organizationId, 'nobody', 'orchestrator')
  pass(1)
  t.equal(warm.release(), 1, 'a warm-up and a turn are use')
  t.match(await warm.warm(call, 'ann'), { status: 'warm' })
})
