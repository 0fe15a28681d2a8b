import t from 'tap'
import { connectWords } from '../../../src/domain/agent/connect-words.ts'
import { configured } from '../../support/configured.ts'
import { shopCall } from '../../support/shop-call.ts'

t.test('the hosts that get a value, and the words of the first agent that has some', async (t) => {
  const agents = new Map([
    [
      'a',
      configured('a', {
        subAgents: ['b'],
        tools: [shopCall('https://shop.example:8443', 'TOKEN')],
        mcpServers: [
          { name: 'm', url: 'https://mcp.example/', headers: { a: '{{credential:TOKEN}}' } },
        ],
      }),
    ],
    [
      'b',
      configured('b', {
        tools: [{ ...shopCall('https://maps.example', 'MAP'), url: 'https://maps.example/{id}' }],
        credentials: [
          { name: 'TOKEN', label: 'Token' },
          { name: 'UNUSED', label: 'Unused' },
        ],
      }),
    ],
  ])
  t.strictSame(Object.fromEntries(connectWords('a', (id) => agents.get(id))), {
    TOKEN: { hosts: ['mcp.example', 'shop.example:8443'], label: 'Token' },
    MAP: { hosts: ['maps.example'] },
  })
})
