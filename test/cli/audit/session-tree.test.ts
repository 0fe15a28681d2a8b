import t from 'tap'
import { sessionTree } from '../../../src/cli/audit/session-tree.ts'

const at = (second: number) => ({ at: new Date(Date.UTC(2026, 0, 1, 0, 0, second)).toISOString() })
const event = (type: string, data: object, second = 0) => ({ type, data, metadata: at(second) })
const cost = { promptTokens: 120, completionTokens: 35, charge: 2_051 }

t.test('a session is shown as a tree of runs, agents and tools', async (t) => {
  const started = { runId: 'r1', agentType: 'LLM_AGENT' }
  const tree = sessionTree('s1', [
    event('SessionCreated', { userId: 'u1', keyId: null, hidden: false }),
    event('UserMessageSent', { messageId: 'm1', runId: 'r1', content: 'Where is\nmy order?' }),
    event('RunStarted', { runId: 'r1', messageId: 'm1', agentId: 'a', agent: 'Front' }),
    event('AgentStarted', { ...started, stepId: 's1', agent: 'Front', depth: 0 }),
    event('AgentRouted', { runId: 'r1', fromAgent: 'Front', toAgent: 'Orders' }),
    event('AgentStarted', { ...started, stepId: 's2', agent: 'Orders', depth: 1 }),
    event('ToolStarted', { runId: 'r1', toolId: 't1', tool: 'get_order', agent: 'Orders' }),
    event('ToolCompleted', { runId: 'r1', toolId: 't1', tool: 'get_order', ok: false }, 2),
    event('AgentCompleted', {
      stepId: 's2',
      durationMs: 2_512,
      model: 'openai/x',
      ...cost,
      error: 'ModelTimeout',
    }),
    event('AgentCompleted', { stepId: 's1', durationMs: 12.4, model: null }),
    event('AssistantMessageRecorded', { runId: 'r1', agent: 'Orders', content: { erased: true } }),
    event('RunCompleted', { runId: 'r1', durationMs: 2_600, ...cost }, 3),
    event('UserMessageSent', { messageId: 'm2', runId: 'r2', content: { $sealed: 'k', box: '' } }),
    event('RunStarted', { runId: 'r2' }, 4),
    event('RunLimitReached', { runId: 'r2', limit: 'model_calls', used: 5, allowed: 5 }),
    event('RunLimitReached', {
      runId: 'r2',
      limit: 'credits',
      used: 1_500_000,
      allowed: 1_250_000,
    }),
    event('RunFailed', { runId: 'r2', code: 'interrupted', charge: 0 }, 5),
    event('UserMessageSent', { messageId: 'm3', runId: 'r3', content: 'x'.repeat(80) }),
    event('SessionVisibilityChanged', { hidden: true }),
    event('SessionErased', { deletedBy: null }, 9),
  ])
  t.strictSame(tree.split('\n'), [
    'session s1  of user u1  created 2026-01-01T00:00:00.000Z',
    'run r1  completed  2.6 s  120 + 35 tokens  0.002051 credits  2026-01-01T00:00:00.000Z',
    '  user: Where is my order?',
    '  Front  LLM_AGENT  12 ms',
    '    → Orders',
    '    Orders  LLM_AGENT  2.5 s  120 + 35 tokens  openai/x  failed: ModelTimeout',
    '      tool get_order  failed  2.0 s',
    '  Orders: (erased)',
    'run r2  failed: interrupted  1.0 s  0.000000 credits  2026-01-01T00:00:04.000Z',
    '  user: (sealed)',
    '  limit of model calls  5 of 5',
    '  limit of credits  1.5 of 1.25',
    'run r3  still running',
    `  user: ${'x'.repeat(59)}…`,
    'erased  2026-01-01T00:00:09.000Z',
  ])
})

t.test('a fork is shown with the messages that it began with', async (t) => {
  const tree = sessionTree('s2', [
    event('ForkBegun', { userId: 'u1', forkedFrom: 's1', messages: 2 }),
    event('MessageForked', { saidBy: 'user', content: 'Hi' }),
    event('MessageForked', { saidBy: 'assistant', agent: 'Front', content: 'Hello.' }),
    event('SessionForked', { userId: 'u1', forkedFrom: 's1', messages: 2 }),
  ])
  t.strictSame(tree.split('\n'), [
    'session s2  of user u1  forked from s1  2026-01-01T00:00:00.000Z',
    '  user: Hi',
    '  Front: Hello.',
  ])
})
