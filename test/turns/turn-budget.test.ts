import { readFileSync } from 'node:fs'
import t from 'tap'
import { chatRequest, productWith } from '../../bench/contenders.ts'
import { type TurnCount, turnCounts } from '../../bench/counting/turn-counts.ts'
import { countNames, turnBudget } from '../../bench/turn-budget.ts'

const names = Object.keys(turnBudget) as TurnCount[]

t.test('a turn costs no more than its budget, in counts', async (t) => {
  const place = { dir: t.testdir(), profile: undefined }
  const { product, tenants } = await productWith(place, {
    name: 'budget',
    count: 8,
    preload: 'counting/preload.js',
    core: 'any',
  })
  t.teardown(product.stop)
  const requests = tenants.map((tenant) => chatRequest(tenant))
  const counts = await turnCounts(product, requests, { warmUp: 600, turns: 200, atOnce: 1 })
  for (const name of names)
    t.ok(
      counts[name] <= turnBudget[name],
      `${countNames[name]}: ${counts[name]} of at most ${turnBudget[name]}`,
    )
})

t.test('docs/performance.md tells the budget', async (t) => {
  const text = readFileSync('docs/performance.md', 'utf8')
  for (const name of names)
    t.ok(text.includes(`| ${countNames[name]} | ${turnBudget[name].toLocaleString('en')} |`), name)
})
