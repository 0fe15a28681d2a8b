import type { Test } from 'tap'
import { type Client, user } from './client.ts'
import { providerDouble, type Reply } from './provider-double.ts'
import type { StartedServer } from './server.ts'
import { toolServer } from './tool-server.ts'

// biome-ignore lint/suspicious/noExplicitAny: tests read any field
type Recorded = { type: string; stream: string; data: any }

/** A tool that calls the server of tools. */
export const apiCall = (url: string, name: string, method: string, more: object = {}) => ({
  type: 'api_call',
  name,
  description: name,
  method,
  url: `${url}/${name}`,
  headers: {},
  parameters: { type: 'object', properties: {} },
  ...more,
})

/** What every model answers in the end. */
export const lastAnswer = 'That is done.'

/** A model's answer that never comes. */
export const neverAnswered: Reply = {
  text: lastAnswer,
  hold: { after: 0, until: new Promise(() => undefined) },
}

/** A model's answer that calls one tool. */
export const callReply = (name: string): Reply => ({ calls: [{ name, arguments: {} }] })

/** A scripted provider, a server of tools, both counting, and the environment to reach them. */
export const countingWorld = async (
  t: Test,
  answers: Parameters<typeof providerDouble>[0] = { text: lastAnswer },
) => {
  const provider = await providerDouble(answers)
  t.teardown(provider.close)
  const tools = await toolServer()
  t.teardown(tools.close)
  const env = {
    LLM_BASE_URL: provider.url,
    LLM_MODEL: 'test/model',
    API_CALL_ALLOW_HOSTS: '127.0.0.1',
  }
  return { provider, tools, env }
}

export type CountingWorld = Awaited<ReturnType<typeof countingWorld>>

/** An organization whose agent has tools that read, write, write with a key, and need approval. */
export const workerOn = async (server: StartedServer, { tools, provider }: CountingWorld) => {
  const organization = await server.platform.organization()
  const { key } = await organization.key({ type: 'user', user_id: organization.ownerId })
  const target_agent_id = await organization.agent({
    name: 'Worker',
    agent_type: 'LLM_AGENT',
    instruction: 'You work.',
    tools: [
      apiCall(tools.url, 'look', 'GET'),
      apiCall(tools.url, 'pay', 'POST'),
      apiCall(tools.url, 'order', 'POST', { idempotency_header: 'Idempotency-Key' }),
      apiCall(tools.url, 'charge', 'POST', { on_unknown: 'ask' }),
      apiCall(tools.url, 'refund', 'POST', { requires_approval: true }),
    ],
  })
  return {
    organization,
    key,
    /** The request of a session, whose message is the session's name. */
    turnOf: (session_id: string) => ({
      messages: [{ role: 'system', content: `Rule of ${session_id}` }, ...user(session_id)],
      session_id,
      target_agent_id,
    }),
    /** What the provider was asked for a session, by how far the agent was. */
    roundsOf: (session: string): number[] =>
      provider.requests
        .filter(({ body }) => body.messages.some(({ content }) => content === session))
        .map(({ body }) => body.messages.filter(({ role }) => role === 'tool').length),
    /** The organization's events, and how many there are of a type. */
    async history(on: StartedServer) {
      const path = `/organizations/${organization.organizationId}/audit/events?limit=500`
      const { events }: { events: Recorded[] } = await on.platform.ask('GET', path)
      const count = (type: string) => events.filter((event) => event.type === type).length
      return { events, count }
    },
  }
}

/** A request whose connection may break. */
export const ask = (client: Client, body: object, key?: string) =>
  client.chat(body, key ? { headers: { 'idempotency-key': key } } : {}).catch(() => undefined)
