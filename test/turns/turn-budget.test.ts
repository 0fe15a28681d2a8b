import { readFileSync } from 'node:fs'
import t, { type Test } from 'tap'
import { chatRequest, productWith } from '../../bench/contenders.ts'
import { type TurnCount, turnCounts } from '../../bench/counting/turn-counts.ts'
import { serve } from '../../bench/processes.ts'
import { countNames, providerBudget, turnBudget } from '../../bench/turn-budget.ts'

// Hundreds of turns of two servers.
t.setTimeout(300_000)

const names = Object.keys(turnBudget) as TurnCount[]

const costsAtMost = async (
  t: Test,
  budget: typeof turnBudget,
  env: Record<string, string> = {},
) => {
  const place = { dir: t.testdir(), profile: undefined }
  const { product, tenants } = await productWith(place, {
    name: 'budget',
    count: 8,
    preload: 'counting/preload.js',
    core: 'any',
    env,
  })
  t.teardown(product.stop)
  const requests = tenants.map((tenant) => chatRequest(tenant))
  const counts = await turnCounts(product, requests, { warmUp: 600, turns: 200, atOnce: 1 })
  for (const name of names)
    t.ok(
      counts[name] <= budget[name],
      `${countNames[name]}: ${counts[name]} of at most ${budget[name]}`,
    )
}

t.test('a turn costs no more than its budget, in counts', (t) => costsAtMost(t, turnBudget))

t.test('nor does one through a provider', async (t) => {
  const provider = await serve({ script: 'baselines/upstream.js', core: 'any' })
  t.teardown(provider.stop)
  const env = { LLM_BASE_URL: `${provider.url}/v1`, LLM_MODEL: 'mock/model' }
  await costsAtMost(t, providerBudget, env)
})

t.test('docs/performance.md tells the budget', async (t) => {
  const text = readFileSync('docs/performance.md', 'utf8')
  for (const name of names) {
    const [offline, provider] = [turnBudget, providerBudget].map((budget) =>
      budget[name].toLocaleString('en'),
    )
    t.ok(text.includes(`| ${countNames[name]} | ${offline} | ${provider} |`), name)
  }
})
