import t from 'tap'
import { user } from '../../support/client.ts'
import { eventually } from '../../support/eventually.ts'
import { otlpReceiver } from '../../support/otlp-receiver.ts'
import type { Reply } from '../../support/provider-double.ts'
import { apiCall, countingWorld } from '../../support/run-world.ts'
import { startServer } from '../../support/server.ts'
import { connect } from '../../support/socket.ts'

// Two lives of a server.
t.setTimeout(240_000)

const accept = { accept: 'application/json, text/event-stream' }
const traceOf = (digit: string) => digit.repeat(32)
/** As the client's own spans would be named. */
const under = (digit: string) => ({ traceparent: `00-${traceOf(digit)}-b7ad6b7169203331-01` })

t.test('whatever a run is asked by, and wherever it goes on, it is one trace', async (t) => {
  const receiver = await otlpReceiver(t)
  const { provider, tools, env } = await countingWorld(t, { text: 'Done.' })
  const server = await startServer(t, {
    ...env,
    OTEL_EXPORTER_OTLP_ENDPOINT: receiver.url,
    OTEL_EXPORTER_OTLP_PROTOCOL: 'http/json',
    OTEL_METRICS_EXPORTER: 'none',
    OTEL_BSP_SCHEDULE_DELAY: '50',
  })
  const organization = await server.platform.organization()
  const { organizationId, ownerId } = organization
  const key = await organization.key({ type: 'user', user_id: ownerId })
  const worker = await organization.agent({
    name: 'Worker',
    tools: [
      apiCall(tools.url, 'look', 'GET'),
      apiCall(tools.url, 'pay', 'POST', { requires_approval: true }),
    ],
  })
  const spansOf = (trace: string) => receiver.spans.filter(({ traceId }) => traceId === trace)
  const span = async (trace: string, name: string, count = 1) => {
    const matches = () => spansOf(trace).filter((candidate) => candidate.name.startsWith(name))
    await receiver.until(() => matches().length >= count)
    return matches()[count - 1]
  }
  const session = (id: string) => () => server.as(key.key).status(id)
  const awaitEnd = (look: ReturnType<typeof session>) =>
    eventually(async () => (await look()).body.is_processing === false)
  const calling = (name: string): Reply => ({ calls: [{ name, arguments: {} }] })

  const response = { input: 'Hi', model: worker, background: true }
  await key.ask('POST', '/api/external/v1/responses', response, { headers: under('1') })
  const requestSpan = await span(traceOf('1'), 'POST /api/external/v1/responses')
  t.match(await span(traceOf('1'), 'invoke_agent Orchestrator'), {
    parentSpanId: requestSpan?.spanId,
  })

  const params = { name: `worker_${worker.slice(-12)}`, arguments: { message: 'Hi' } }
  const call = { jsonrpc: '2.0', id: 1, method: 'tools/call', params }
  await key.ask('POST', '/api/external/mcp', call, { headers: { ...accept, ...under('2') } })
  const called = await span(traceOf('2'), 'POST /api/external/mcp')
  t.match(await span(traceOf('2'), 'invoke_agent Worker'), { parentSpanId: called?.spanId })

  const socket = await connect(server.url, { 'x-api-key': key.key })
  socket.send({ type: 'message', content: 'Hi' })
  await socket.until('stream_complete')
  socket.ws.close()
  await receiver.until(() => receiver.spans.some(({ name }) => name === 'WS message'))
  const frame = receiver.spans.find(({ name }) => name === 'WS message')
  const ofFrame = frame?.traceId ?? ''
  t.match(await span(ofFrame, 'invoke_agent'), { parentSpanId: frame?.spanId })
  t.match(await span(ofFrame, 'command'), { parentSpanId: frame?.spanId })

  provider.next(calling('pay'))
  const body = { messages: user('Pay'), model: worker, session_id: 'approved' }
  const { pending_approvals } = (await key.chat(body, { headers: under('3') })).body
  t.match(await span(traceOf('3'), 'invoke_agent Worker'), { error: false }, 'a pause is no error')
  const { approval_id, arguments_digest } = pending_approvals[0]
  const decision = { decision: 'approve', arguments_digest }
  const path = `/api/external/approvals/${approval_id}`
  await key.ask('POST', path, decision, { headers: under('4') })
  t.ok(await span(traceOf('3'), 'execute_tool pay'), 'what was approved is done in its run’s trace')
  t.ok(await span(traceOf('4'), 'POST /api/external/approvals'), 'the decision has its own')

  await awaitEnd(session('approved'))

  tools.hold('/look')
  provider.next(calling('look'))
  const killed = { messages: user('Look'), model: worker, session_id: 'killed' }
  const lost = key.chat(killed, { headers: under('5') }).catch(() => undefined)
  await tools.received('/look', 1)
  await server.kill9()
  await lost
  tools.letGo()
  await server.restart()
  t.match(await span(traceOf('5'), 'execute_tool look'), { error: false }, 'made anew')
  await awaitEnd(session('killed'))
  const history = `/organizations/${organizationId}/audit/events?type=RunCompleted&session_id=killed`
  const { events } = await server.platform.ask('GET', history)
  t.match(events, [{ metadata: { trace_id: traceOf('5') } }], 'its events lead to the trace')
})
