import { setTimeout } from 'node:timers/promises'
import { Subject } from 'rxjs'
import t, { type Test } from 'tap'
import type { Changed } from '../../src/caches/changed.ts'
import { findAgents } from '../../src/caches/find-agents.ts'
import { commanded } from '../support/commanded.ts'
import { countedView } from '../support/counted-view.ts'
import { eventually } from '../support/eventually.ts'
import { call, platformCall } from '../support/recorded.ts'

/** An organization, and what finds its agents. */
const scene = async (t: Test, bounds: { mostCharacters?: number } = {}) => {
  const all = await commanded(t)
  const { createOrganization, read, seen } = all
  const organization = async (name: string) => {
    const owner = { email: `${name}@example.com` }
    const { organizationId } = await createOrganization({ name, owner }, platformCall)
    return organizationId
  }
  const organizationId = await organization('acme')
  await seen()
  const changes = new Subject<readonly Changed[]>()
  const agents = countedView(read.agents)
  const { find, close } = findAgents({
    agents: agents.view,
    organizations: read.organizations,
    changes,
    sharedViews: false,
    ...bounds,
  })
  t.teardown(close)
  return {
    ...all,
    organizationId,
    organization,
    find,
    reads: agents.reads,
    follow: () => {
      const following = all.changes.subscribe((batch) => changes.next(batch))
      t.teardown(() => following.unsubscribe())
    },
    notify: (change: Changed) => changes.next([change]),
  }
}

t.test('agents are cached until one of them changes', async (t) => {
  const { organizationId, find, notify, read } = await scene(t)
  const team = await find(organizationId)
  const { agentId } = team.orchestrator
  t.ok(team.agents.has(agentId))
  const document = await read.agents.get(agentId)
  notify({ view: 'sessions', changes: [{ id: agentId, document }] })
  notify({ view: 'agents', changes: [] })
  t.equal(await find(organizationId), team)
  notify({ view: 'agents', changes: [{ id: agentId, document }] })
  t.not(await find(organizationId), team)
})

t.test('agents are read again after one was deleted', async (t) => {
  const { organizationId, find, notify } = await scene(t)
  const team = await find(organizationId)
  notify({ view: 'agents', changes: [{ id: 'another', document: undefined }] })
  t.equal(await find(organizationId), team)
  notify({ view: 'agents', changes: [{ id: team.orchestrator.agentId, document: undefined }] })
  t.not(await find(organizationId), team)
})

t.test('agents are read again after their read model was rebuilt', async (t) => {
  const { organizationId, find, notify } = await scene(t)
  const team = await find(organizationId)
  notify({ view: 'sessions', changes: [], anew: true })
  t.equal(await find(organizationId), team)
  notify({ view: 'organizations', changes: [], anew: true })
  t.not(await find(organizationId), team)
})

t.test('an organization that is not there has no orchestrator', async (t) => {
  const { find } = await scene(t)
  await t.rejects(async () => find('none'), { code: 'agent_not_found' })
})

t.test('a change costs only the documents that it affects', async (t) => {
  const { organizationId, organization, find, follow, reads, seen, ...all } = await scene(t)
  const other = await organization('other')
  await seen()
  const { orchestrator } = await find(organizationId)
  const elsewhere = (await find(other)).orchestrator
  follow()
  const inside = { ...call, organizationId }
  const create = async (name: string, more: object = {}) => {
    const agent = { name, instruction: 'i'.repeat(64_000), ...more }
    return (await all.createAgent(agent, inside)).agentId
  }
  const leaves: string[] = []
  for (let n = 0; n < 40; n++) leaves.push(await create(`leaf ${n}`))
  const apart = await create('apart')
  const change = (agentId: string, change: object, by = inside) =>
    all.changeAgent({ agentId, change }, by)
  await change(orchestrator.agentId, { subAgents: leaves })
  await seen()

  reads()
  const before = await find(organizationId)
  t.equal(before.agents.size, 41, 'the orchestrator and what it runs')
  t.equal(reads().documents, 41)

  const [leaf = ''] = leaves
  await change(leaf, { description: 'changed' })
  await seen()
  const after = await find(organizationId)
  t.equal(reads().documents, 1, 'the one that has changed')
  t.equal(after.agents.get(leaf)?.description, 'changed')
  t.equal(before.agents.get(leaf)?.description, '', 'a turn keeps the agents that it began with')

  await change(apart, { description: 'changed' })
  await change(elsewhere.agentId, { description: 'changed' }, { ...call, organizationId: other })
  await seen()
  t.equal(await find(organizationId), after)
  t.equal(reads().documents, 0, 'none that it does not run, nor of another organization')

  const alone = await find(organizationId, { agentId: apart })
  t.strictSame([...alone.agents.keys()], [apart], 'not what others run')
  t.equal(reads().documents, 1)
})

t.test('turns that begin at once read each document once', async (t) => {
  const { organizationId, find, reads } = await scene(t)
  const teams = await Promise.all(Array.from({ length: 20 }, () => find(organizationId)))
  t.equal(new Set(teams.map(({ orchestrator }) => orchestrator)).size, 1)
  t.equal(reads().documents, 1)
})

t.test('agents of other organizations are not returned', async (t) => {
  const { organizationId, organization, find, seen } = await scene(t)
  const other = await organization('other')
  await seen()
  const { agentId } = (await find(other)).orchestrator
  const { agents } = await find(organizationId, { agentId, targets: [agentId] })
  t.notOk(agents.has(agentId))
})

t.test('an agent with an unreadable event is not run', async (t) => {
  const { organizationId, read, changes } = await scene(t)
  const get = async (id: string) => {
    const view = await read.agents.get(id)
    return view && { ...view, incomplete: true as const }
  }
  const uses = { agents: { get }, organizations: read.organizations, changes, sharedViews: false }
  const { find, close } = findAgents(uses)
  t.teardown(close)
  await t.rejects(async () => find(organizationId), { code: 'stream_unreadable' })
})

t.test('an agent has the limits of its read model', async (t) => {
  const { organizationId, find, follow, seen, ...all } = await scene(t)
  follow()
  const { orchestrator } = await find(organizationId)
  const limits = { steps: 3, tokens: 1_000, charge: 2_000_000, seconds: 4 }
  const { agentId } = orchestrator
  await all.changeAgent({ agentId, change: { limits } }, { ...call, organizationId })
  await seen()
  t.strictSame((await find(organizationId)).orchestrator.limits, limits)
})

for (const [title, sharedViews, seconds] of [
  ['this process alone projects', false, 60],
  ['another process may project', true, 5],
] as const)
  t.test(`agents are cached for ${seconds} s where ${title}`, async (t) => {
    const { organizationId, read, changes } = await scene(t)
    const { now } = performance
    let aheadMs = 0
    t.intercept(performance, 'now', { value: () => now.call(performance) + aheadMs })
    const uses = { agents: read.agents, organizations: read.organizations, changes, sharedViews }
    const { find, close } = findAgents(uses)
    t.teardown(close)
    const cached = await find(organizationId)
    const isCached = async () => (await find(organizationId)) === cached
    aheadMs = (seconds - 1) * 1_000
    // The clock of the cache stands still for 100 ms.
    await setTimeout(150)
    t.ok(await isCached(), 'a second before')
    aheadMs = seconds * 1_000
    await eventually(async () => !(await isCached()))
    t.notOk(await isCached(), 'afterwards')
  })

t.test('agents of the organization used last remain when all exceed the bound', async (t) => {
  const { organizationId, organization, find, reads, seen, ...all } = await scene(t, {
    mostCharacters: 10_000,
  })
  const other = await organization('other')
  const large = async (organizationId: string) => {
    const agent = { name: 'Large', instruction: 'i'.repeat(6_000) }
    return (await all.createAgent(agent, { ...call, organizationId })).agentId
  }
  const [first, second] = [await large(organizationId), await large(other)]
  await seen()
  const team = await find(organizationId, { agentId: first })
  t.equal(await find(organizationId, { agentId: first }), team, 'cached')
  const otherTeam = await find(other, { agentId: second })
  t.equal(await find(other, { agentId: second }), otherTeam, 'the last is cached')
  t.not(await find(organizationId, { agentId: first }), team, 'the first made room')
})
