import t from 'tap'
import { compared } from '../../../src/turns/replay/compare-replays.ts'
import type { Place, Replay } from '../../../src/turns/replay/replay.ts'

const model = (change: Partial<Place> = {}): Place =>
  ({
    kind: 'model',
    agent: 'A',
    model: 'default',
    system: 'Be kind.',
    tools: ['recall'],
    messages: '[]',
    settings: '{}',
    answer: 'Hi',
    calls: [],
    answered: true,
    ...change,
  }) as Place
const tool = (result: string): Place => ({
  kind: 'tool',
  agent: 'A',
  tool: 'recall',
  arguments: '{}',
  result,
})
const replay = (places: Record<string, Place>, answer = 'Hi', error?: string): Replay => ({
  places: new Map(Object.entries(places)),
  answer,
  ...(error ? { error } : {}),
})

t.test('what differs, place by place, in the order of a run', async (t) => {
  const before = replay({ '0/1': model(), '0/1/0': tool('one'), '0/2': model(), '0/10': model() })
  t.match(compared(before, before), { steps: [], same: 4, answer: { changed: false }, error: null })
  const now = replay(
    {
      '0.1/1': model({ agent: 'B' }),
      '0/1': model({ system: 'Be short.', agent: 'C' }),
      '0/1/0': tool('two'),
      '0/2': tool('two'),
      '0/11': model({ messages: '[1]' } as Partial<Place>),
    },
    'Ho',
    'AgentFault',
  )
  const { steps, same, answer, error } = compared(before, now)
  t.strictSame(
    steps.map(({ at, change, changed }) => [at, change, changed]),
    [
      ['0/1', 'changed', ['agent', 'system']],
      ['0/1/0', 'changed', ['result']],
      ['0/2', 'changed', ['tool', 'result']],
      ['0/10', 'gone', []],
      ['0/11', 'new', []],
      ['0.1/1', 'new', []],
    ],
  )
  t.equal(same, 0)
  t.strictSame(answer, { changed: true, before: 'Hi', now: 'Ho' })
  t.equal(error, 'AgentFault')
  t.match(steps[1], { before: { called: { result: 'one' } }, now: { called: { result: 'two' } } })
  t.equal(steps[4]?.before, null)
})

t.test('long texts are cut', async (t) => {
  const long = 'x'.repeat(20_000)
  const { answer } = compared(replay({}), replay({}, long))
  t.equal(answer.now, `${'x'.repeat(16_384)}… (20000 characters)`)
})
