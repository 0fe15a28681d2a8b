import t from 'tap'
import { client } from '../../support/client.ts'
import { checkLooks, needsConsole, settled, startConsole } from '../../support/console-screens.ts'

t.test('the agents in every look', needsConsole, async (t) => {
  const { page: open, key, organizationId, url } = await startConsole(t)
  const api = client(url, key)
  const agents = `/api/admin/organizations/${organizationId}/agents`
  const { body } = await api.ask('GET', agents)
  const { agent_id } = body.agents.find(({ name }: { name: string }) => name === 'Concierge')
  await api.ask('POST', agents, {
    name: 'Very long name '.repeat(13).trim(),
    description: 'مرحبا بالعالم',
  })
  await api.ask('PATCH', `${agents}/${agent_id}`, { instruction: 'Be brief.' })
  const { page } = await open('/agents')
  await page.getByRole('list', { name: 'Team' }).waitFor()
  await checkLooks(t, page, 'agents')
  await page.goto(`${url}/console/agents/${agent_id}`)
  await page.getByRole('heading', { level: 1, name: 'Concierge' }).waitFor()
  await settled(page)
  await checkLooks(t, page, 'agent')
  await page.goto(`${url}/console/agents/${agent_id}?tab=history`)
  await page.getByRole('button', { name: /Created/ }).click()
  await page.getByRole('button', { name: 'Restore this version…' }).waitFor()
  await checkLooks(t, page, 'agent-history')
  await page.goto(`${url}/console/agents/new`)
  await page.getByRole('heading', { level: 1, name: 'New agent' }).waitFor()
  await checkLooks(t, page, 'agent-new')
})
