import t from 'tap'
import { tracedTransactor } from '../../src/event-sourcing/traced-transactor.ts'
import type { Transactor } from '../../src/event-sourcing/transactor.ts'
import type { Attributes, SpanStart, Telemetry } from '../../src/ports/telemetry.ts'
import { call } from '../support/recorded.ts'

const trace = { traceId: 't', spanId: 's', sampled: true }
const stream = { name: 'box-org-1_b-1' } as Parameters<Transactor['transact']>[0]
const decide = () => []

/** A transactor whose decisions end as said, and the spans of it. */
const traced = (stored: Promise<unknown>) => {
  const decided = Promise.resolve(decide())
  const inner = {
    load: async () => 'loaded',
    transact: () => stored,
    begin: () => ({ decided, stored }),
  } as unknown as Transactor
  const starts: [string, SpanStart | undefined][] = []
  const spanEnds: [Attributes | undefined, string | undefined][] = []
  const telemetry: Telemetry = {
    texts: false,
    begin: (name, start) => {
      starts.push([name, start])
      return { context: trace, end: (attributes, error) => spanEnds.push([attributes, error]) }
    },
  }
  return { inner, starts, spanEnds, decided, ...tracedTransactor(inner, telemetry) }
}

const outcome = { events: [{ type: 'BoxOpened' }, { type: 'ThingPut' }], revision: 7 }
const start = ['command', { parent: trace, attributes: { 'reprise.stream': stream.name } }]

t.test('a decision has a span with its events and revision, and its outcome', async (t) => {
  const stored = Promise.resolve(outcome)
  const { transact, starts, spanEnds } = traced(stored)
  t.equal(await transact(stream, decide, { ...call, trace }), outcome)
  t.strictSame(starts, [start])
  t.strictSame(spanEnds, [
    [{ 'reprise.events': ['BoxOpened', 'ThingPut'], 'reprise.revision': 7 }, undefined],
  ])
})

t.test('a decision that is begun has a span, and what it was begun with', async (t) => {
  const stored = Promise.resolve(outcome)
  const { begin: beginDecision, starts, spanEnds, decided } = traced(stored)
  const result = beginDecision(stream, decide, { ...call, trace })
  t.equal(result.decided, decided)
  t.equal(await result.stored, outcome)
  t.strictSame(starts, [start])
  t.match(spanEnds, [[{ 'reprise.revision': 7 }, undefined]])
})

for (const [error, name] of [
  [new TypeError('no'), 'TypeError'],
  ['no', 'Error'],
] as const)
  t.test(`the span of a failed decision ends with ${name} and without attributes`, async (t) => {
    const { transact, spanEnds } = traced(Promise.reject(error))
    await t.rejects(transact(stream, decide, call))
    t.strictSame(spanEnds, [[{}, name]])
  })

t.test('a load has no span', async (t) => {
  const { inner, load, starts } = traced(Promise.resolve(outcome))
  t.equal(load, inner.load)
  t.strictSame(starts, [])
})
