import t from 'tap'
import { isApiCall, toolName } from '../../../src/domain/agent/events.ts'
import { shopCall } from '../../support/shop-call.ts'

t.test('a tool has the name of its call, its own, or that of its type', async (t) => {
  const call = { ...shopCall('https://shop.example'), name: 'order' }
  const recall = { type: 'recall' } as unknown as Parameters<typeof toolName>[0]
  t.strictSame([call, 'remember' as const, recall].map(toolName), ['order', 'remember', 'recall'])
  t.strictSame([call, 'remember' as const, recall].map(isApiCall), [true, false, false])
})
