import { type Attack, expect } from '../../support/under-attack.ts'

const tool = (name: string, parameters: object) => ({
  type: 'api_call',
  name,
  method: 'GET',
  url: 'https://api.invalid/',
  parameters,
})

const names = Array.from({ length: 60 }, (_, n) => `d${n}`)
const refs = Object.fromEntries(names.map((name) => [name, { $ref: `#/$defs/${name}` }]))
const bomb = { $defs: { d0: { properties: refs } }, properties: { d0: { $ref: '#/$defs/d0' } } }
const pattern = { properties: { a: { type: 'string', pattern: '^(a+)+$' } } }

/** A schema whose references double at each level, and a pattern that takes for ever. */
export const schemas: Attack = async (server) => {
  const organization = await server.platform.organization({ credits: 1_000_000 })
  const agents = `/organizations/${organization.organizationId}/agents`
  const weather = await organization.agent({ name: 'Weather', tools: [tool('weather', pattern)] })
  return async () => {
    const key = await organization.key({ scopes: ['agents:invoke'] })
    const creation = server.platform
      .ask('POST', agents, { name: 'Bomb', tools: [tool('bomb', bomb)] })
      .catch((error: unknown) => error)
    const message = `weather a=${'a'.repeat(60)}b`
    const completions = `/api/external/agents/${weather}/completions`
    const { body } = expect(await key.ask('POST', completions, { message }), 200)
    if (!/could not be checked in time/.test(body.response))
      throw new Error(`the pattern was checked: ${body.response}`)
    await creation
  }
}
