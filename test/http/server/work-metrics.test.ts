import { readFile } from 'node:fs/promises'
import t from 'tap'
import { workMetrics } from '../../../src/http/server/work-metrics.ts'
import { user } from '../../support/client.ts'
import { call } from '../../support/recorded.ts'
import { startChat } from '../../support/server.ts'

const text = async (url: string) => (await fetch(new URL('/metrics', url))).text()

t.test('runs, tokens, charges, tools, refusals and queues are counted', async (t) => {
  const { server, provider, key, organization } = await startChat(
    t,
    {
      text: 'Yes.',
      usage: { prompt_tokens: 10, completion_tokens: 5 },
    },
    undefined,
    { LLM_PRICES: '{"test/*":{"prompt":100,"completion":200}}' },
  )
  const orchestrator = await organization.orchestrator()
  await server.platform.ask(
    'PATCH',
    `/organizations/${organization.organizationId}/agents/${orchestrator}`,
    { tools: ['recall'] },
  )
  provider.next({ calls: [{ name: 'recall', arguments: { query: 'x' } }], usage: null })
  t.match(await key.chat({ messages: user('Hi') }), { status: 200 })
  provider.next({ status: 401 })
  t.match(await key.chat({ messages: user('Hi') }), { status: 500, code: 'model_misconfigured' })
  t.match(await key.chat({}), { status: 400 })
  const metrics = await text(server.url)
  for (const line of [
    'reprise_runs_total{outcome="completed",model="test/model"} 1',
    'reprise_runs_total{outcome="failed",model="test/model"} 1',
    'reprise_model_errors_total{code="model_misconfigured"} 1',
    'reprise_tool_calls_total{outcome="ok"} 1',
    'reprise_model_call_duration_seconds_count{model="test/model"} 2',
    'reprise_time_to_first_token_seconds_count{model="test/model"} 1',
    'reprise_refusals_total{code="missing_required_field"} 1',
    'reprise_queue_length{queue="uploads"} 0',
    'reprise_queue_length{queue="contents"} 0',
  ])
    t.ok(metrics.split('\n').includes(line), line)
  t.match(metrics, /reprise_tokens_total\{model="test\/model",direction="completion"\} [1-9]/)
  t.match(metrics, /reprise_charged_credits_total\{model="test\/model"\} 0\.0\d/)

  const { panels } = JSON.parse(await readFile('docs/grafana-dashboard.json', 'utf8'))
  const names = panels.flatMap(({ targets }: { targets: { expr: string }[] }) =>
    targets.flatMap(({ expr }) => expr.match(/\b(?:reprise|nodejs|process)_\w+/g) ?? []),
  )
  t.ok(names.length > 10)
  for (const name of names) t.match(metrics, new RegExp(`^${name}[ {]`, 'm'), `${name} is there`)
})

t.test('a configured model has its own label, any other counts as other', async (t) => {
  const { watchRun, registry } = workMetrics(new Set(['test/7']))
  const watch = watchRun({ runId: 'r', sessionId: 's', call, message: 'Hi' })
  const price = { prompt: 0, completion: 0 }
  const usage = { promptTokens: 1, completionTokens: 1 }
  for (let n = 0; n < 1_000; n++) {
    const model = `test/${n}`
    const at = { step_id: `${n}`, model, price }
    watch.see({ event: 'model_called', ...at, prompt_tokens: 1 })
    const output = { at: '0/1', agent: 'A', finish_reason: 'stop', text: '', calls: [] } as const
    watch.see({ event: 'model_answered', ...at, ...output, usage })
  }
  const lines = (await registry.metrics()).split('\n')
  const counts = lines.filter((line) =>
    line.startsWith('reprise_model_call_duration_seconds_count'),
  )
  t.strictSame(counts.toSorted(), [
    'reprise_model_call_duration_seconds_count{model="other"} 999',
    'reprise_model_call_duration_seconds_count{model="test/7"} 1',
  ])
})
