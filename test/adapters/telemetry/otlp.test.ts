import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import { user } from '../../support/client.ts'
import { otlpReceiver, type ReceivedSpan } from '../../support/otlp-receiver.ts'
import { providerDouble } from '../../support/provider-double.ts'
import { startServer } from '../../support/server.ts'

// Several lives of a server.
t.setTimeout(300_000)

const traceId = '0af7651916cd43dd8448eb211c80319c'
const traceparent = `00-${traceId}-b7ad6b7169203331-01`
const soon = { OTEL_BSP_SCHEDULE_DELAY: '50', OTEL_METRIC_EXPORT_INTERVAL: '200' }
const secret = 'What-the-user-said'
const answer = 'What-the-model-said'

/** A chat with a tool call, traced, over a real process. */
const traced = async (t: Test, env: Record<string, string>) => {
  const receiver = await otlpReceiver(t)
  const provider = await providerDouble({ text: answer })
  t.teardown(provider.close)
  const server = await startServer(t, {
    LLM_BASE_URL: provider.url,
    LLM_MODEL: 'test/model',
    LLM_PRICES: '{"test/*":{"prompt":1,"completion":1}}',
    OTEL_EXPORTER_OTLP_ENDPOINT: receiver.url,
    ...soon,
    ...env,
  })
  const organization = await server.platform.organization()
  const orchestrator = await organization.orchestrator()
  await server.platform.ask(
    'PATCH',
    `/organizations/${organization.organizationId}/agents/${orchestrator}`,
    { tools: ['recall'] },
  )
  const key = await organization.key()
  provider.next({ calls: [{ name: 'recall', arguments: { query: secret } }] })
  const reply = await key.chat({ messages: user(secret) }, { headers: { traceparent } })
  t.equal(reply.status, 200)
  const inTrace = () => receiver.spans.filter((span) => span.traceId === traceId)
  await receiver.until(() => inTrace().some(({ name }) => name.startsWith('POST ')))
  await receiver.until(() => inTrace().some(({ name }) => name.startsWith('invoke_agent')))
  return { server, receiver, organization, spans: inTrace(), reply }
}

const named = (spans: readonly ReceivedSpan[], name: string): ReceivedSpan => {
  const match = spans.find((span) => span.name.startsWith(name))
  if (!match) throw new Error(`no span ${name} among ${spans.map((span) => span.name).join(', ')}`)
  return match
}

for (const protocol of ['http/json', 'http/protobuf'])
  t.test(`a request, its commands and its run are one trace (${protocol})`, async (t) => {
    const all = await traced(t, { OTEL_EXPORTER_OTLP_PROTOCOL: protocol })
    const { spans, receiver, server, organization, reply } = all
    t.ok(
      receiver.types.has(protocol === 'http/json' ? 'application/json' : 'application/x-protobuf'),
    )
    const request = named(spans, 'POST ')
    t.match(request, {
      parentSpanId: 'b7ad6b7169203331',
      attributes: {
        'http.route': '/api/external/v1/chat/completions',
        'http.response.status_code': 200,
        'reprise.organization_id': organization.organizationId,
        'reprise.request_id': reply.headers.get('x-request-id'),
      },
    })
    const agent = named(spans, 'invoke_agent Orchestrator')
    t.match(agent, {
      parentSpanId: request.spanId,
      attributes: { 'gen_ai.operation.name': 'invoke_agent', 'gen_ai.agent.name': 'Orchestrator' },
    })
    t.match(named(spans, 'chat test/model'), {
      parentSpanId: agent.spanId,
      attributes: { 'gen_ai.provider.name': 'test', 'gen_ai.request.model': 'test/model' },
    })
    t.match(named(spans, 'execute_tool recall'), {
      parentSpanId: agent.spanId,
      attributes: { 'gen_ai.tool.name': 'recall' },
    })
    const commands = spans.filter(({ name }) => name === 'command')
    t.ok(commands.some(({ parentSpanId }) => parentSpanId === request.spanId))
    t.ok(commands.every(({ attributes }) => attributes['reprise.stream']))
    t.notMatch(JSON.stringify(receiver.spans), secret, 'texts stay here')
    t.notMatch(JSON.stringify(receiver.spans), answer)
    await receiver.until(() => receiver.spans.some(({ name }) => name === 'projection batch'))

    const events = await server.platform.ask(
      'GET',
      `/organizations/${organization.organizationId}/audit/events?type=RunCompleted`,
    )
    t.match(events.events, [{ metadata: { trace_id: traceId } }])

    if (protocol === 'http/json') {
      await receiver.until(() => receiver.metrics.has('reprise_runs_total'))
      t.match(receiver.metrics.get('reprise_runs_total'), { sum: { isMonotonic: true } })
      t.ok(receiver.metrics.has('reprise_http_request_duration_seconds'))
    }
    t.equal(await server.stop(), 0)
  })

t.test('texts are sent where the operator says so', async (t) => {
  const { spans } = await traced(t, {
    OTEL_EXPORTER_OTLP_PROTOCOL: 'http/json',
    OTEL_METRICS_EXPORTER: 'none',
    OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT: 'true',
  })
  const { attributes } = named(spans, 'invoke_agent')
  t.match(attributes['gen_ai.input.messages'], secret)
  t.match(attributes['gen_ai.output.messages'], answer)
  t.match(named(spans, 'execute_tool').attributes['gen_ai.tool.call.arguments'], secret)
})

t.test('a receiver that is down or silent delays nothing and stops nothing', async (t) => {
  const silent = await otlpReceiver(t, { hold: true })
  for (const url of [silent.url, 'http://127.0.0.1:1']) {
    const server = await startServer(t, {
      OTEL_EXPORTER_OTLP_ENDPOINT: url,
      OTEL_BSP_MAX_QUEUE_SIZE: '10',
      OTEL_BSP_MAX_EXPORT_BATCH_SIZE: '5',
      ...soon,
    })
    const organization = await server.platform.organization()
    const key = await organization.key()
    for (let n = 0; n < 20; n++)
      t.match(await key.chat({ messages: user(`Question ${n}`) }), { status: 200 })
    if (url === silent.url) t.ok(silent.requests() > 0)
    t.equal(await server.stop(), 0)
  }
})

const modulesOf = async (t: Test, env: Record<string, string>) => {
  const file = join(t.testdir({}), 'modules')
  const hook = new URL('../../support/note-modules.js', import.meta.url)
  const server = await startServer(t, {
    NODE_OPTIONS: `--import=${hook}`,
    NOTED_MODULES: file,
    TEST_BUNDLE: '',
    ...env,
  })
  const key = await (await server.platform.organization()).key()
  t.match(await key.chat({ messages: user('Hello') }, { headers: { traceparent } }), {
    status: 200,
  })
  await server.stop()
  const urls = (await readFile(file, 'utf8')).split('\n')
  return {
    ours: urls.some((url) => url.endsWith('/src/app/telemetry.js')),
    theirs: urls.filter((url) => url.includes('/@opentelemetry/') || url.endsWith('/otlp.js')),
  }
}

t.test('without a receiver no file of OpenTelemetry is loaded', async (t) => {
  t.match(await modulesOf(t, {}), { ours: true, theirs: { length: 0 } })
  const { theirs } = await modulesOf(t, { OTEL_EXPORTER_OTLP_ENDPOINT: 'http://127.0.0.1:1' })
  t.ok(theirs.length > 5, 'with one they are')
})
