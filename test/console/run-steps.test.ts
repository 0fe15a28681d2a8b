import t from 'tap'
import { alignedSteps } from '../../console/src/screens/run/align-steps.ts'
import {
  barOf,
  failuresOf,
  rowsOf,
  type Step,
  spanOf,
  ticksOf,
  treeOf,
  visibleSteps,
} from '../../console/src/screens/run/steps.ts'

const step = (step_id: string, parent_id: string | null, change: Partial<Step> = {}): Step => ({
  step_id,
  parent_id,
  kind: 'agent',
  name: step_id,
  agent_name: 'Shop',
  started_at: '2026-01-01T00:00:00.000Z',
  duration_ms: 100,
  status: 'completed',
  tokens: null,
  charge: null,
  ...change,
})

const none = new Set<string>()
const idsOf = (steps: readonly Step[]) => steps.map(({ step_id }) => step_id)

const run = [
  step('attempt-1', null, { kind: 'attempt' }),
  step('0', null),
  step('0/1', '0', { kind: 'model', started_at: '2026-01-01T00:00:00.060Z', duration_ms: 40 }),
  step('0.1', '0', { started_at: '2026-01-01T00:00:00.020Z', duration_ms: 30 }),
  step('0.1/1', '0.1', { kind: 'model', duration_ms: 20 }),
]

t.test('steps are rows below their parents, in the order of their starts', async (t) => {
  const rows = rowsOf(treeOf(run), none)
  t.strictSame(
    rows.map(({ step, depth, children }) => [step.step_id, depth, children]),
    [
      ['0', 0, 2],
      ['0.1', 1, 1],
      ['0.1/1', 2, 0],
      ['0/1', 1, 0],
    ],
  )
})

t.test('attempts are rows where there are several', async (t) => {
  const twice = [...run, step('attempt-2', null, { kind: 'attempt' })]
  const kinds = rowsOf(treeOf(twice), none).map(({ step: { kind } }) => kind)
  t.equal(kinds.filter((kind) => kind === 'attempt').length, 2)
})

t.test('a collapsed step has no rows below it', async (t) => {
  const rows = rowsOf(treeOf(run), new Set(['0']))
  t.strictSame(
    rows.map(({ step, isExpanded }) => [step.step_id, isExpanded]),
    [['0', false]],
  )
})

t.test('a step whose parent is not loaded is at the top', async (t) => {
  t.strictSame(idsOf(treeOf([step('0.1/1', '0.1')]).top), ['0.1/1'])
})

t.test('a search shows matching steps below all that are above them', async (t) => {
  const visible = visibleSteps(run, new Set(['0.1/1']))
  t.strictSame(
    rowsOf(treeOf(run), none, visible).map(({ step }) => step.step_id),
    ['0', '0.1', '0.1/1'],
  )
})

t.test('bars are parts of the time from the first start to the last end', async (t) => {
  const span = spanOf(run, 0)
  t.equal(span.end - span.start, 100)
  t.strictSame(barOf(step('x', null), span, 0), { offset: 0, width: 1 })
  const late = step('y', null, { started_at: '2026-01-01T00:00:00.060Z', duration_ms: 40 })
  t.strictSame(barOf(late, span, 0), { offset: 0.6, width: 0.4 })
})

t.test('an open step lasts until now', async (t) => {
  const start = Date.parse('2026-01-01T00:00:00.000Z')
  const open = step('0', null, { duration_ms: null, status: 'running' })
  t.strictSame(spanOf([open], start + 5_000), { start, end: start + 5_000 })
})

t.test('ticks of the axis are round distances', async (t) => {
  t.strictSame(ticksOf({ start: 0, end: 1_720 }), [0, 500, 1_000, 1_500])
  t.strictSame(ticksOf({ start: 0, end: 1 }), [0, 0.5])
})

t.test('the innermost agent that failed comes first, then other failures', async (t) => {
  const failed = { status: 'failed' } as const
  const steps = [
    step('0', null, failed),
    step('0.1', '0', failed),
    step('0.1/1/0', '0.1', { ...failed, kind: 'tool' }),
    step('0.1/2', '0.1'),
  ]
  t.strictSame(idsOf(failuresOf(steps)), ['0.1', '0.1/1/0'])
})

t.test('two thousand steps become rows', async (t) => {
  const calls = Array.from({ length: 2_000 }, (_, index) =>
    step(`0/1/${index}`, '0', { kind: 'tool' }),
  )
  t.equal(rowsOf(treeOf([step('0', null), ...calls]), none).length, 2_001)
})

t.test('steps of two runs are aligned by their places', async (t) => {
  const first = [step('0', null), step('0/1', '0'), step('0/1/0', '0', { name: 'find' })]
  const second = [
    step('0', null),
    step('0/1', '0'),
    step('0/1/0', '0', { name: 'check' }),
    step('0/2', '0'),
  ]
  t.strictSame(
    alignedSteps(first, second).map(({ id, name, a, b }) => [id, name, Boolean(a), Boolean(b)]),
    [
      ['0', '0', true, true],
      ['0/1', '0/1', true, true],
      ['0/1/0', 'find → check', true, true],
      ['0/2', '0/2', false, true],
    ],
  )
})
