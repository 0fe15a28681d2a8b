import t from 'tap'
import { approvalScene, refundCall } from '../../support/approval-scene.ts'
import { contents } from '../../support/client.ts'
import { eventually } from '../../support/eventually.ts'
import { connect, textIn } from '../../support/socket.ts'

t.test(
  'a turn over a socket that waits for an approval ends there, and goes on without it',
  async (t) => {
    const { server, key, shop, provider, decide, site } = await approvalScene(t)
    const socket = await connect(server.url, { 'x-api-key': key.key })
    await socket.next()
    provider.next({ text: 'Let me see. ', calls: [refundCall] })
    const message = { type: 'message', session_id: 's', model: shop, target_agent_id: shop }
    socket.send({ ...message, content: 'Refund A-1', id: 'one' })
    const frames = await socket.until('stream_complete')
    const approvals = frames.filter(({ type }) => type === 'approval_required')
    t.match(approvals, [
      { tool_name: 'refund', agent_name: 'Shop', arguments: refundCall.arguments, id: 'one' },
    ])
    const [pending] = frames.at(-1)?.pending_approvals ?? []
    t.match(frames.at(-1), { content: 'Let me see. ', finish_reason: 'stop', id: 'one' })
    t.match(approvals[0], pending, 'the end has all of them')
    t.match(await key.status('s'), { body: { state: 'awaiting_approval' } })
    t.equal(site.requests.length, 0)

    t.match(await decide(pending, 'approve'), { status: 200 })
    await eventually(async () => {
      const { body } = await key.status('s')
      return !body.is_processing && !body.state
    })
    t.strictSame(await contents(key, 's'), ['Refund A-1', 'Let me see. \n\nDone.'])
    t.equal(site.requests.length, 1)
    socket.send({ ...message, content: 'Thanks', id: 'two' })
    const next = await socket.until('stream_complete')
    t.equal(textIn(next), 'Done.', 'the socket goes on with the next message')

    provider.next({ text: 'Again. ', calls: [refundCall] })
    socket.send({ ...message, content: 'Refund A-2', id: 'three' })
    await socket.until('stream_complete')
    t.match(await key.cancel('s'), { body: { cancelled: true } })
    t.equal((await contents(key, 's')).at(-1), 'Again. ', 'what it said is kept')
    t.equal(site.requests.length, 1)
    socket.close()
  },
)
