import t from 'tap'
import { chatFormat } from '../../../src/http/streams/chat-format.ts'
import {
  beginning,
  type StreamPlace,
  streamPlaceOf,
  turnFrames,
} from '../../../src/http/streams/turn-frames.ts'
import type { LiveTurn } from '../../../src/turns/turn.ts'
import { eventsOf, type Frame, user } from '../../support/client.ts'
import { doneWith, token, turnWith } from '../../support/live-turn.ts'
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
    const exchange = async (end: 'error' | 'stream_complete', ...replies: Reply[]) => {
      provider.next(...replies)
      socket.send({ type: 'message', content: 'Hi' })
      return socket.until(end)
    }
    const frames = await exchange('error', ...unwell)
    t.match(
      frames.filter(({ type }) => type === 'tool_completed'),
      [toolFailed],
    )
    t.match(
      frames.filter(({ type }) => type === 'agent_completed'),
      [agentFailed],
    )
    const rest = await exchange('stream_complete', ...well)
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

const chat = {
  model: 'svc-orchestrator',
  agentEvents: 'plain',
  mingles: false,
  includeUsage: false,
  closesOnError: false,
} as const

/** The frames of a turn from a place on. */
const framesOf = async (turn: LiveTurn, from: StreamPlace) => {
  let text = ''
  for await (const bytes of turnFrames(turn, chatFormat(turn, chat), from))
    text += Buffer.from(bytes).toString()
  return text.split('\n\n').filter(Boolean)
}

t.test('a turn that goes on says so first; each frame is a place to continue from', async (t) => {
  const done = doneWith('One two')
  const turn = turnWith({ status: 'completed', done }, { attempt: 2 })
  const resumed = { event: 'run_resumed', attempt: 2 } as const
  for (const item of [resumed, token('One '), token('two'), done]) turn.items.push(item)
  turn.items.close()
  const frames = await framesOf(turn, beginning)
  t.ok(frames[0]?.endsWith(`data: ${JSON.stringify(resumed)}`))
  t.match(frames[1], /"delta":\{"role":"assistant"/)
  t.equal(frames.length, 6)
  for (const [n, frame] of frames.entries()) {
    const streamPlace = streamPlaceOf(/^id: (.*)$/m.exec(frame)?.[1])
    t.match(streamPlace, { runId: 'run-1', attempt: 2 })
    t.strictSame(await framesOf(turn, streamPlace?.place ?? beginning), frames.slice(n + 1))
  }
})
