import { contents, user } from '../../support/client.ts'
import { type Attack, expect } from '../../support/under-attack.ts'

const users = 8

/**
 * End users of one key who all say the same, as clients that count their retries do and as others
 * do. The sessions are their own, whoever else has said that: in the first attempt, in retries,
 * whole and streamed.
 */
export const retriesOfOthers: Attack = async (server) => {
  const organization = await server.platform.organization({ credits: 1_000_000 })
  const attempts = [{}, { 'x-stainless-retry-count': '0' }, { 'x-stainless-retry-count': '1' }]

  return async () => {
    // A key of its own for each round: one may ask 300 times a minute.
    const key = await organization.key()

    /** The session of a whole answer. */
    const chat = async (headers: Record<string, string>): Promise<string> => {
      const reply = expect(await key.chat({ messages: user('hi') }, { headers }), 200)
      return reply.body.session_id
    }
    const respond = async (headers: Record<string, string>): Promise<string> => {
      const path = '/api/external/v1/responses'
      const reply = expect(await key.ask('POST', path, { input: 'hi' }, { headers }), 200)
      return reply.body.conversation.id
    }
    const stream = async (headers: Record<string, string>): Promise<string> => {
      const reply = expect(await key.stream({ messages: user('hi') }, { headers }), 200)
      const [first] = await reply.all()
      return first?.data.id
    }

    for (const ask of [chat, respond, stream])
      for (const headers of attempts) {
        const alone: string[] = []
        for (let n = 0; n < 3; n++) alone.push(await ask(headers))
        const together = await Promise.all(Array.from({ length: users }, () => ask(headers)))
        const all = [...alone, ...together]
        const own = new Set(all)
        if (own.size !== all.length)
          throw new Error(`${all.length} users of one key had ${own.size} sessions`)
        if (ask === stream) continue
        const secret = { messages: user('my secret'), session_id: together[0] }
        expect(await key.chat(secret), 200)
        for (const session of [...alone, ...together.slice(1)])
          if ((await contents(key, session)).includes('my secret'))
            throw new Error('a user reads what another has said')
      }
  }
}
