import t from 'tap'
import { deferred } from '../../../src/support/deferred.ts'
import { withOrganization } from '../../support/partner.ts'
import { providerDouble } from '../../support/provider-double.ts'
import { startApp } from '../../support/server.ts'

t.test('a running turn keeps the agents it started with', async (t) => {
  const provider = await providerDouble({ text: 'Done.' })
  t.teardown(provider.close)
  const all = await startApp(t, { LLM_BASE_URL: provider.url, LLM_MODEL: 'test/model' })
  const { at, owner, created } = await withOrganization(all)
  const orchestrator = `${at}/agents/${created.body.orchestrator_agent_id}`
  const helper = await owner('POST', `${at}/agents`, { name: 'Helper', instruction: 'Old.' })
  const { agent_id } = helper.body
  await owner('PATCH', orchestrator, { sub_agents: [agent_id] })

  const chat = () =>
    owner('POST', '/api/external/v1/chat/completions', {
      messages: [{ role: 'user', content: 'Hi' }],
    })
  const calls = [{ name: 'transfer_to_agent', arguments: { agent_name: 'Helper' } }]
  const changed = deferred<void>()
  provider.next({ calls, hold: { after: 0, until: changed.promise } })
  const running = chat()
  await provider.received(1)
  t.match(await owner('PATCH', orchestrator, { sub_agents: [] }), { status: 200 })
  t.match(await owner('PATCH', `${at}/agents/${agent_id}`, { instruction: 'New.' }), {
    status: 200,
  })
  changed.resolve()
  t.match(await running, { status: 200, body: { choices: [{ message: { content: 'Done.' } }] } })
  const instructionAt = (n: number) => provider.requests[n]?.body.messages[0]?.content
  t.match(instructionAt(1), /^Old\./, 'also the agent that it comes to later')

  await owner('PATCH', orchestrator, { sub_agents: [agent_id] })
  provider.next({ calls })
  t.match(await chat(), { status: 200 })
  t.match(instructionAt(3), /^New\./, 'the next turn has what was changed')
  t.match(await owner('PATCH', `${at}/agents/${agent_id}`, { is_active: false }), { status: 200 })
  t.match(await chat(), { status: 200 })
  t.notOk(provider.requests.at(-1)?.body.tools, 'nobody is left to hand the turn to')
})
