import fc from 'fast-check'
import t from 'tap'
import {
  agentServers,
  agentTools,
  serversOf,
  serverViews,
  toolsOf,
  toolViews,
} from '../../projections/agent-tools.ts'
import { agentEvents } from '../../src/domain/agent/events.ts'

const maybe = <T>(value: fc.Arbitrary<T>) => fc.option(value, { nil: undefined })
const care = {
  effect: maybe(fc.constantFrom('read' as const, 'write' as const)),
  onUnknown: maybe(fc.constantFrom('tell' as const, 'ask' as const)),
  requiresApproval: maybe(fc.boolean()),
  approver: maybe(fc.constantFrom('user' as const, 'admin' as const)),
  approvalTtl: maybe(fc.integer({ min: 1, max: 9 })),
}
const place = { name: fc.string(), url: fc.string(), headers: fc.constant({ a: 'b' }) }
const apiCall = fc.record({
  type: fc.constant('api_call' as const),
  description: fc.string(),
  method: fc.constant('POST'),
  parameters: fc.constant({ type: 'object' }),
  idempotencyHeader: maybe(fc.constant('Idempotency-Key')),
  ...place,
  ...care,
})
const server = fc.record({
  ...place,
  tools: maybe(fc.dictionary(fc.constantFrom('add', 'remove'), fc.record(care))),
  ...care,
})
const stored = <T>(value: T): T => JSON.parse(JSON.stringify(value))

t.test('stored tools and servers are published complete, and read back unchanged', async (t) => {
  fc.assert(
    fc.property(fc.array(apiCall), fc.array(server), (calls, servers) => {
      const tools = stored(
        agentEvents.AgentCreated.shape.tools.parse([
          'recall',
          { type: 'remember', requiresApproval: true },
          ...calls,
        ]),
      )
      const places = stored(servers)
      const views = agentTools.parse(stored(toolViews(tools)))
      t.strictSame(toolsOf(views), tools)
      t.strictSame(views, stored(toolViews(tools)), 'nothing is lost by the schema')
      const seen = agentServers.parse(stored(serverViews(places)))
      t.strictSame(serversOf(seen), places)
    }),
    { numRuns: 50 },
  )
})
