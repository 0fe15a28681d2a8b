import t from 'tap'
import { eventsOf, type Frame, user } from '../../support/client.ts'
import type { Reply } from '../../support/provider-double.ts'
import { startChat } from '../../support/server.ts'
import { connect } from '../../support/socket.ts'

/** A tool that is not there, then a provider that refuses the agent. */
const unwell: Reply[] = [{ calls: [{ name: 'nothing', arguments: {} }] }, { status: 401 }]
const well: Reply[] = [{ text: 'Fine.' }]
const agentFailed = { agent: 'Orchestrator', ok: false, error_code: 'model_misconfigured' }
const toolFailed = { tool_name: 'nothing', ok: false }

t.test(
  'agents and tools say whether it went well when they complete: streams and sockets alike',
  async (t) => {
    const { server, key, provider } = await startChat(t)
    const streamed = async (...replies: Reply[]) => {
      provider.next(...replies)
      return (await key.stream({ messages: user('Hi') })).all()
    }
    const of = (frames: readonly Frame[], name: string) =>
      eventsOf(frames).filter(({ event }) => event === name)
    const failed = await streamed(...unwell)
    t.match(of(failed, 'tool_completed'), [toolFailed])
    t.match(of(failed, 'agent_completed'), [agentFailed])
    const [fine] = of(await streamed(...well), 'agent_completed')
    t.match(fine, { ok: true })
    t.notOk('error_code' in fine)

    const socket = await connect(server.url, { 'x-api-key': key.key })
    const said = async (end: 'error' | 'stream_complete', ...replies: Reply[]) => {
      provider.next(...replies)
      socket.send({ type: 'message', content: 'Hi' })
      return socket.until(end)
    }
    const frames = await said('error', ...unwell)
    t.match(
      frames.filter(({ type }) => type === 'tool_completed'),
      [toolFailed],
    )
    t.match(
      frames.filter(({ type }) => type === 'agent_completed'),
      [agentFailed],
    )
    const rest = await said('stream_complete', ...well)
    t.match(
      rest.filter(({ type }) => type === 'agent_completed'),
      [{ ok: true }],
    )

    provider.next(...unwell)
    t.match(await key.chat({ messages: user('Hi') }), {
      status: 500,
      code: 'model_misconfigured',
    })
  },
)
