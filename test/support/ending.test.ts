import t from 'tap'
import { endable, signalOf } from '../../src/support/ending.ts'

t.test('those who listen are told once, with the first reason', (t) => {
  const { ending, end } = endable()
  const reasons: unknown[] = []
  const removed = () => reasons.push('gone')
  ending.addEventListener('abort', removed)
  ending.addEventListener('abort', () => reasons.push(ending.reason))
  ending.removeEventListener('abort', removed)
  t.notOk(ending.aborted)
  end('first')
  end('second')
  t.ok(ending.aborted)
  t.strictSame(reasons, ['first'])
  t.end()
})

t.test("node's own signal aborts with it", (t) => {
  const { ending, end } = endable()
  const before = signalOf(ending)
  t.notOk(before.aborted)
  end('why')
  t.equal(before.reason, 'why')
  t.equal(signalOf(ending).reason, 'why', 'also one that is made later')
  t.end()
})
