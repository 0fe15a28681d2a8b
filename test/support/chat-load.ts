import { textOf, user } from './client.ts'
import type { StartedServer } from './server.ts'
import { expect } from './under-attack.ts'

/** A key may ask so often in an hour; the next turn has another key. */
const turnsOfKey = 250

/**
 * An organization that chats until `stop`, whole and streamed, in a session for each key. Every
 * turn is answered 200 with the offline model's text.
 */
export const chatLoad = async ({ platform, as }: Pick<StartedServer, 'platform' | 'as'>) => {
  const organization = await platform.organization({ credits: 1_000_000 })
  const sessions: { key: string; session_id: string; answers: string[] }[] = []
  let over = false
  let turns = 0
  let longestMs = 0

  const right = (question: string, answer: string) => {
    if (!answer.includes(question)) throw new Error(`${question} was answered: ${answer}`)
    return answer
  }

  const startSession = async (name: string) => {
    const { key } = await organization.key()
    const session = { key, session_id: `${name}-${sessions.length}`, answers: [] as string[] }
    sessions.push(session)
    return session
  }

  const ask = async (key: string, session_id: string, question: string, streamed: boolean) => {
    const body = { messages: user(question), session_id }
    if (!streamed) {
      const reply = expect(await as(key).chat(body), 200)
      return right(question, reply.body.choices[0].message.content)
    }
    const stream = await as(key).stream(body)
    const items = await stream.all()
    expect({ status: stream.status, body: items }, 200)
    if (items.at(-1)?.data !== '[DONE]') throw new Error('the stream has no end')
    return right(question, textOf(items.slice(0, -1)))
  }

  const converse = async (name: string, streamed: boolean) => {
    for (let session = await startSession(name); !over; session = await startSession(name))
      for (let n = 0; n < turnsOfKey && !over; n++) {
        const question = `Question ${n} of ${session.session_id}`
        const began = performance.now()
        const answer = await ask(session.key, session.session_id, question, streamed)
        longestMs = Math.max(longestMs, performance.now() - began)
        session.answers.push(question, answer)
        turns++
      }
  }

  const conversations = Promise.all([converse('whole', false), converse('streamed', true)])
  conversations.catch(() => undefined)
  return {
    /**
     * Questions and answers of each session, once the running turns have ended. @throws a failure
     */
    async stop() {
      over = true
      await conversations
      return { sessions, turns, longestMs: Math.round(longestMs) }
    },
  }
}
