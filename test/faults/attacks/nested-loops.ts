import { user } from '../../support/client.ts'
import { nestedLoops as loops } from '../../support/nested-loops.ts'
import { type Attack, expect } from '../../support/under-attack.ts'

/** Loops in loops, 100 times each, over a model that answers at once. */
export const nestedLoops: Attack = async (server) => {
  const organization = await server.platform.organization({ credits: 1_000_000 })
  const target_agent_id = await loops(organization)
  return async () => {
    const key = await organization.key()
    const body = { messages: user('Go on'), target_agent_id }
    const replies = await Promise.all(Array.from({ length: 5 }, () => key.chat(body)))
    for (const reply of replies) {
      const reason = expect(reply, 200).body.choices[0].finish_reason
      if (reason !== 'length') throw new Error(`the loops ended by ${reason}`)
    }
  }
}
