import { type Attack, expect } from '../../support/under-attack.ts'

const text = 'Systems, said; the text: goes-on & on. '.repeat(25_000)
const system = { role: 'system', content: text }

/** Three megabytes of system text, for a provider that does not count its tokens. */
export const longPrompts: Attack = async (server) => {
  const organization = await server.platform.organization({ credits: 1_000_000 })
  const target_agent_id = await organization.agent({ name: 'Silent', model: 'silent/any' })
  return async () => {
    const key = await organization.key()
    const messages = [system, system, system, { role: 'user', content: 'Hi' }]
    const replies = await Promise.all(
      Array.from({ length: 5 }, () => key.chat({ messages, target_agent_id })),
    )
    for (const reply of replies)
      if (!(expect(reply, 200).body.usage.prompt_tokens > 100_000))
        throw new Error(JSON.stringify(reply.body.usage))
  }
}
