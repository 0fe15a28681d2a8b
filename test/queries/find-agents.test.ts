import { Subject } from 'rxjs'
import t, { type Test } from 'tap'
import { findAgents } from '../../queries/find-agents.ts'
import { commanded, platformCall } from '../support/commanded.ts'

type Changed = { view: string; changes: readonly unknown[]; anew?: boolean }

/** An organization, and what finds its agents. */
const scene = async (t: Test) => {
  const { createOrganization, read, seen } = await commanded(t)
  const owner = { email: 'owner@example.com' }
  const { organizationId } = await createOrganization({ name: 'Acme', owner }, platformCall)
  await seen()
  const changes = new Subject<readonly Changed[]>()
  const { find, close } = findAgents({ ...read, changes, sharedViews: false })
  t.teardown(close)
  return { organizationId, find, told: (change: Changed) => changes.next([change]) }
}

t.test('agents are kept until an agent or organization changes', async (t) => {
  const { organizationId, find, told } = await scene(t)
  const found = await find(organizationId)
  t.ok(found.agents.has(found.orchestrator.agentId))
  told({ view: 'sessions', changes: [{}] })
  told({ view: 'agents', changes: [] })
  t.equal(find(organizationId), found)
  told({ view: 'agents', changes: [{}] })
  t.type(find(organizationId), Promise)
})

t.test('agents are read again once their read model was made anew', async (t) => {
  const { organizationId, find, told } = await scene(t)
  const found = await find(organizationId)
  told({ view: 'sessions', changes: [], anew: true })
  t.equal(find(organizationId), found)
  told({ view: 'organizations', changes: [], anew: true })
  t.type(find(organizationId), Promise)
})

t.test('an organization that is not there has no orchestrator', async (t) => {
  const { find } = await scene(t)
  await t.rejects(async () => find('none'), { code: 'agent_not_found' })
})
