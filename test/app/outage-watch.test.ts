import t from 'tap'
import { openOutageWatch } from '../../src/app/outage-watch.ts'
import { StoreUnavailable } from '../../src/ports/event-store.ts'
import { silent } from '../../src/ports/log.ts'
import { deferred } from '../../src/support/deferred.ts'
import { clockFrom } from '../support/ticking.ts'

t.test('an outage is recorded as soon as that can be stored, once', async (t) => {
  const clock = clockFrom('2026-01-01T00:00:00.000Z')
  const from = clock.now()
  let failing: Date | undefined = from
  const recorded = deferred<void>()
  const tries: Date[] = []
  const watch = openOutageWatch({
    failingSince: () => failing,
    recordOutage: async ({ from }) => {
      tries.push(from)
      if (tries.length < 3) throw new StoreUnavailable('still down')
      failing = undefined
      recorded.resolve()
    },
    clock,
    log: silent,
    everyMs: 1,
  })
  const alive = setInterval(() => undefined, 1_000)
  t.teardown(() => clearInterval(alive))
  await recorded.promise
  await watch.close()
  t.strictSame(tries, [from, from, from])
})
