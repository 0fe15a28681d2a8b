import { from, lastValueFrom, of, toArray } from 'rxjs'
import t from 'tap'
import { agentRuntime } from '../../src/agents/agent-runtime.ts'
import { type Journal, noJournal, type RecordedApproval } from '../../src/agents/journal.ts'
import { errorPrefix, type Tool } from '../../src/agents/tool.ts'
import { agentNamed, hostOf, scripted, toolNamed, turnOf } from '../support/agents.ts'
import { calls, endOf, says, stageScene, tokensOf } from '../support/scene.ts'

t.test('tools', async (t) => {
  const add = toolNamed('add', async ({ a, b }) => ({
    ok: true,
    content: `${Number(a) + Number(b)}`,
  }))
  const broken = toolNamed('broken', async () => {
    throw new Error('secret')
  })
  const slow = toolNamed('slow', () => new Promise(() => undefined))
  const tools = [add, broken, slow]
  const agents = [agentNamed('Solo', { toolNames: ['add', 'broken', 'slow'] })]

  t.test('run side by side; their results go back in order', async (t) => {
    const { all, requests } = stageScene({
      agents,
      tools,
      limits: { toolMs: 20 },
      script: ({ messages }) =>
        messages.at(-1)?.role === 'tool'
          ? says('Sum: 3')
          : calls(
              ['slow', '{}'],
              ['add', '{"a":1,"b":2}'],
              ['broken', ''],
              ['add', '[1'],
              ['missing', '{}'],
            ),
    })
    const events = await all()
    t.strictSame(
      requests[1]?.messages.slice(3).map(({ content }) => content),
      [
        `${errorPrefix}slow failed`,
        '3',
        `${errorPrefix}broken failed`,
        `${errorPrefix}the arguments are not a JSON object`,
        `${errorPrefix}there is no tool missing`,
      ],
    )
    t.match(requests[1]?.messages[2], {
      role: 'assistant',
      toolCalls: [{ id: 'c0' }, { id: 'c1' }],
    })
    const completed = events.filter(({ event }) => event === 'tool_completed')
    t.equal(completed.length, 5)
    t.match(
      completed.find((event) => 'tool_name' in event && event.tool_name === 'broken'),
      { ok: false, error: { message: 'secret' }, agent_name: 'Solo' },
    )
    t.match(endOf(events), { text: 'Sum: 3', usage: { promptTokens: 20, completionTokens: 4 } })
  })

  t.test('text before and after a call are paragraphs', async (t) => {
    const { all } = stageScene({
      agents,
      tools,
      script: ({ messages }) =>
        messages.at(-1)?.role === 'tool'
          ? says('It is ', '3.')
          : [{ type: 'text', text: 'Let me see.' }, ...calls(['add', '{"a":1,"b":2}'])],
    })
    const events = await all()
    t.equal(tokensOf(events), 'Let me see.\n\nIt is 3.')
    t.equal(endOf(events).text, tokensOf(events))
  })

  t.test('the last round is offered none', async (t) => {
    const { all, requests } = stageScene({
      agents,
      tools,
      limits: { rounds: 3 },
      script: ({ tools }) => (tools ? calls(['add', '{}']) : says('Enough.')),
    })
    t.equal(endOf(await all()).text, 'Enough.')
    t.equal(requests.length, 3)
  })

  t.test('a payment is shown beside the result', async (t) => {
    const payment = { message: 'Pay', nonce: 'n', network: 'base', total_amount: '0.01' }
    const paid = {
      ...add,
      run: () => of({ payment }, { ok: false, content: 'payment required' }, { payment }),
    }
    const { all } = stageScene({
      agents,
      tools: [paid],
      script: ({ messages }) =>
        messages.at(-1)?.role === 'tool' ? says('No money.') : calls(['add', '{}']),
    })
    const payments = (await all()).filter(({ event }) => event === 'payment_required')
    t.strictSame(payments, [{ event: 'payment_required', agent_name: 'Solo', ...payment }])
  })

  t.test('tools may have to be asked for', async (t) => {
    const models = scripted(({ tools }) => says(`${tools?.length}`))
    const run = agentRuntime({ ...hostOf({ models }), toolsOf: () => from(Promise.resolve([add])) })
    const events = await lastValueFrom(run(turnOf(agentNamed('Solo'), 'Hi')).pipe(toArray()))
    t.equal(endOf(events).text, '1')
  })
})

t.test(
  'an approved call that had begun is repeated only under the approved definition',
  async (t) => {
    const runs: string[] = []
    const look: Tool = {
      ...toolNamed('look', async () => {
        runs.push('look')
        return { ok: true, content: 'seen' }
      }),
      definition: () => 'now',
    }
    const approved = (definition: string): RecordedApproval => ({
      approvalId: 'approval-1',
      status: 'approved',
      definition,
      approver: 'user',
      expiresAt: '2026-01-02T00:00:00.000Z',
      told: false,
    })
    const resultAfter = async (definition: string) => {
      const models = scripted(({ messages }) =>
        messages.at(-1)?.role === 'tool'
          ? says(messages.at(-1)?.content ?? '')
          : calls(['look', '{}']),
      )
      const journal: Journal = {
        ...noJournal,
        toolAt: () => ({ effect: 'read' }),
        approvalAt: () => approved(definition),
      }
      const run = agentRuntime({ ...hostOf({ models }), toolsOf: () => of([look]) })
      const turn = { ...turnOf(agentNamed('Solo'), 'Hi'), journal }
      return endOf(await lastValueFrom(run(turn).pipe(toArray()))).text
    }
    t.match(await resultAfter('then'), /it is not known whether this was done/)
    t.strictSame(runs, [])
    t.equal(await resultAfter('now'), 'seen')
    t.strictSame(runs, ['look'])
  },
)

t.test('a call with too deep or too wide arguments is not made', async (t) => {
  const deep = (levels: number) => `${'{"a":'.repeat(levels)}1${'}'.repeat(levels)}`
  const runs: unknown[] = []
  const keep = toolNamed('keep', async (args) => {
    runs.push(args)
    return { ok: true, content: 'kept' }
  })
  const careful = {
    ...keep,
    spec: { ...keep.spec, name: 'careful' },
    policy: {
      effect: 'write',
      keyed: false,
      onUnknown: 'tell',
      approval: { approver: 'user', ttlSeconds: 60, definition: 'd' },
    } as const,
  }
  const wide = `{"a":[${'0,'.repeat(20_000)}0]}`
  const { all, requests } = stageScene({
    agents: [agentNamed('Solo', { toolNames: ['keep', 'careful'] })],
    tools: [keep, careful],
    script: ({ messages }) =>
      messages.at(-1)?.role === 'tool'
        ? says('Well.')
        : calls(['keep', deep(20_000)], ['careful', deep(33)], ['keep', wide], ['keep', deep(32)]),
  })
  t.match(endOf(await all()), { text: 'Well.' })
  const refused = `${errorPrefix}the arguments have more than 32 levels or 20000 values`
  t.strictSame(
    requests[1]?.messages.slice(3).map(({ content }) => content),
    [refused, refused, refused, 'kept'],
  )
  t.equal(runs.length, 1)
})
