import t from 'tap'
import { connectItems, requireItems } from '../../../src/domain/agent/connect-items.ts'
import type { AgentConfiguration } from '../../../src/domain/agent/events.ts'
import { configured } from '../../support/configured.ts'
import { shopCall } from '../../support/shop-call.ts'

const call = (name: string, headers: Record<string, string>) => ({
  ...shopCall('https://shop.example'),
  name,
  headers,
})

const among = (agents: Record<string, AgentConfiguration>) => connectItems('a', (id) => agents[id])

t.test('credentials that an agent and those below it send, each once, by name', async (t) => {
  const items = among({
    a: configured('a', {
      subAgents: ['b', 'gone'],
      tools: [shopCall('https://shop.example', 'TOKEN'), 'recall'],
    }),
    b: configured('b', {
      subAgents: ['a'],
      tools: [call('fixed', { 'x-key': 'k' }), call('open', {})],
      mcpServers: [
        { name: 'm', url: 'https://m', headers: { a: '{{credential:API}} {{credential:TOKEN}}' } },
      ],
    }),
    c: configured('c', { tools: [shopCall('https://shop.example', 'UNREACHED')] }),
  })
  t.strictSame(items.items, [
    { name: 'API', kind: 'mcp_server' },
    { name: 'TOKEN', kind: 'api_call' },
  ])
  t.strictSame(items.skipped, [
    { name: 'recall', reason: 'provided_by_system' },
    { name: 'fixed', reason: 'provided_by_organization' },
    { name: 'open', reason: 'no_credential_schema' },
  ])
  t.doesNotThrow(() => requireItems(items))
})

t.test('agents that only run others send nothing', async (t) => {
  const tools = [shopCall('https://shop.example', 'TOKEN')]
  const items = among({ a: configured('a', { agentType: 'LOOP_AGENT', tools }) })
  t.strictSame(items, { items: [], skipped: [] })
  t.throws(() => requireItems(items), { code: 'nothing_to_connect' })
})

t.test('at most twenty of a kind', async (t) => {
  const names = Array.from({ length: 21 }, (_, n) => `T${String(n).padStart(2, '0')}`)
  const { items, skipped } = among({
    a: configured('a', { tools: [shopCall('https://shop.example', ...names)] }),
  })
  t.equal(items.length, 20)
  t.strictSame(skipped, [{ name: 'T20', reason: 'too_many_items' }])
})
