import { Histogram, Registry } from 'prom-client'
import t from 'tap'
import { counter, countsBy, histogram, plus } from '../../../src/http/server/counted.ts'

const sorted = async (registry: Registry) => (await registry.metrics()).split('\n').sort()

t.test('a histogram is reported as prom-client reports it', async (t) => {
  const described = { name: 'took', help: 'How long', labelNames: ['what', 'how'] as const }
  const buckets = [0.1, 1, 10]
  const registry = new Registry()
  const ours = histogram({ ...described, buckets, registry })
  const theirs = new Registry()
  const usual = new Histogram({ ...described, buckets, registers: [theirs] })
  t.strictSame(await sorted(registry), await sorted(theirs), 'nothing is observed yet')
  for (const labels of [
    { what: 'a', how: 'well' },
    { what: 'b', how: 'badly' },
  ]) {
    const observed = ours.of(labels)
    for (const value of [0, 0.1, 0.11, 1, 9.5, 10, 11, 1_000]) {
      observed.observe(value)
      usual.observe(labels, value)
    }
  }
  t.strictSame(await sorted(registry), await sorted(theirs))
})

t.test('a counter tells the numbers of the moment', async (t) => {
  const registry = new Registry()
  const counts = new Map<string, number>()
  const described = { name: 'done_total', help: 'Done', labelNames: ['code'] as const, registry }
  counter(described, countsBy('code', counts))
  plus(counts, 'a')
  plus(counts, 'a')
  plus(counts, 'b')
  t.match(await registry.metrics(), 'done_total{code="a"} 2\ndone_total{code="b"} 1')
  plus(counts, 'b')
  t.match(await registry.metrics(), 'done_total{code="a"} 2\ndone_total{code="b"} 2')
})
