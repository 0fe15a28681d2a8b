import t from 'tap'
import { contents, textOf, user } from '../../support/client.ts'
import { parallelAgents } from '../../support/parallel-agents.ts'
import { startApp } from '../../support/server.ts'

t.test('parallel answers in plain clients: branch after branch, as it is stored', async (t) => {
  const server = await startApp(t)
  const organization = await server.platform.organization({ credits: 100 })
  const key = await organization.key()
  const both = await parallelAgents(organization)
  const request = {
    messages: user('What do you know of tea and of coffee?'),
    target_agent_id: both,
  }
  const stainless = { 'x-stainless-lang': 'js' }
  for (const [n, [headers, agent_events]] of (
    [
      [stainless, undefined],
      [{}, 'none'],
    ] as const
  ).entries()) {
    const session_id = `s${n}`
    const options = agent_events ? { stream_options: { agent_events } } : {}
    const init = { headers }
    const frames = await (await key.stream({ ...request, ...options, session_id }, init)).all()
    const [, stored] = await contents(key, session_id)
    t.match(stored, /^Left:\n.*\n\nRight:\n/s)
    t.equal(textOf(frames), stored)
    const query = agent_events ? `?agent_events=${agent_events}` : ''
    for (const at of [1, 3, Math.floor(frames.length / 2), frames.length - 2]) {
      const after = { headers: { ...headers, 'last-event-id': frames[at]?.id ?? '' } }
      const rest = await (await key.attach(session_id, after, query)).all()
      t.strictSame(rest, frames.slice(at + 1), `followed again after item ${at}`)
    }
  }
  for (const agent_events of ['plain', 'chunk']) {
    const stream = await key.stream({ ...request, stream_options: { agent_events } })
    t.notMatch(textOf(await stream.all()), /Left:\n/, `${agent_events}: as it is said`)
  }
})
