import { user } from '../../support/client.ts'
import { type Attack, expect } from '../../support/under-attack.ts'

/** A model that calls a tool again and again: megabytes of steps, more than one append can hold. */
export const largeSteps: Attack = async (server) => {
  const organization = await server.platform.organization({ credits: 1_000_000 })
  const note = { type: 'api_call', name: 'note', method: 'POST', url: 'http://127.0.0.1:1/' }
  const target_agent_id = await organization.agent({
    name: 'Calling',
    model: 'calling/any',
    tools: [{ ...note, parameters: { properties: { text: { type: 'string' } } } }],
  })
  return async () => {
    const key = await organization.key()
    const { body } = expect(await key.chat({ messages: user('Go'), target_agent_id }), 200)
    const { is_processing } = expect(await key.status(body.session_id), 200).body
    if (is_processing) throw new Error('the run goes on')
  }
}
