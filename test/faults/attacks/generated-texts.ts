import { user } from '../../support/client.ts'
import { type Attack, expect } from '../../support/under-attack.ts'

const refused = 'context_length_exceeded'

/** Small inputs that multiply: placeholders, references of schemas, arguments of 20,000 levels. */
export const generatedTexts: Attack = async (server) => {
  const organization = await server.platform.organization({ credits: 1_000_000 })
  const first = await organization.agent({ name: 'First', model: 'telling/any', output_key: 'a' })
  const instruction = '{a}'.repeat(16_000)
  const readers: string[] = []
  for (let n = 0; n < 20; n++)
    readers.push(await organization.agent({ name: `Reader ${n}`, instruction }))
  const all = { agent_type: 'PARALLEL_AGENT', sub_agents: readers }
  const together = await organization.agent({ name: 'Together', ...all })
  const line = { agent_type: 'SEQUENTIAL_AGENT', sub_agents: [first, together] }
  const multiplying = await organization.agent({ name: 'Line', ...line })
  const note = { type: 'api_call', name: 'note', method: 'POST', url: 'http://127.0.0.1:1/' }
  const tools = [{ ...note, requires_approval: true }]
  const deep = await organization.agent({ name: 'Deep', model: 'deep/any', tools })
  const reference = { $ref: `#/$defs/${'/'.repeat(60_000)}a` }
  const properties = { list: { type: 'array', minItems: 20_000, items: reference } }
  const parameters = { type: 'object', properties, required: ['list'], $defs: { a: {} } }
  return async () => {
    const key = await organization.key()
    const multiplied = await key.chat({ messages: user('Go'), target_agent_id: multiplying })
    const code = expect(multiplied, 400, 200).code ?? ''
    if (multiplied.status === 400 && code !== refused) throw new Error(`refused as ${code}`)
    const offered = [{ type: 'function', function: { name: 'fill', parameters } }]
    expect(await key.chat({ messages: user('Fill'), tools: offered, tool_choice: 'required' }), 200)
    const { body } = expect(await key.chat({ messages: user('Go'), target_agent_id: deep }), 200)
    const { is_processing } = expect(await key.status(body.session_id), 200).body
    if (is_processing) throw new Error('the run goes on')
  }
}
