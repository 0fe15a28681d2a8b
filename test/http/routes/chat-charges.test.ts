import t from 'tap'
import { user } from '../../support/client.ts'
import { startChat } from '../../support/server.ts'

t.test('a sequence whose last agent fails is charged for the answers before it', async (t) => {
  const { organization, provider, key } = await startChat(t, { text: 'Yes.' })
  const agent = (name: string) => organization.agent({ name, model: 'test/model' })
  const sub_agents = [await agent('One'), await agent('Two'), await agent('Three')]
  const chain = await organization.agent({
    name: 'Chain',
    agent_type: 'SEQUENTIAL_AGENT',
    sub_agents,
  })
  const ask = (session_id: string) => key.chat({ model: chain, session_id, messages: user('Go') })
  const spent = async (act: () => Promise<unknown>) => {
    const before = await organization.balance()
    await act()
    const after = await organization.balance()
    t.equal(after.balance, after.effective, 'nothing stays reserved')
    return before.balance - after.balance
  }
  const complete = await spent(() => ask('whole'))
  provider.next({ text: 'Yes.' }, { text: 'Yes.' }, { status: 400 })
  const failed = await spent(async () => {
    const { status } = await ask('fails')
    t.ok(status >= 400)
  })
  t.ok(failed > complete / 2, 'two of three answers')
  t.ok(failed < complete, 'the call that failed is free')
  provider.next({ status: 400 })
  t.equal(await spent(() => ask('first-fails')), 0)
})
