import t from 'tap'
import { runs } from '../../projections/runs.ts'
import { findRepeatedRun } from '../../queries/find-repeated-run.ts'
import { sessionEvent, sessionStream } from '../support/session-events.ts'
import { viewAfter } from '../support/view-after.ts'

const begun = (runId: string, minute: number) =>
  sessionEvent('RunStarted', `2026-01-01T00:0${minute}:00.000Z`, { runId, fingerprint: 'same' })
const now = new Date('2026-01-01T00:10:00.000Z')

t.test('the latest run of a fingerprint, for ten minutes', async (t) => {
  const find = findRepeatedRun(viewAfter(runs, sessionStream, begun('a', 0), begun('b', 1)))
  t.match(await find('same', now), { run_id: 'b' })
  t.equal(await find('other', now), undefined)
  t.match(await find('same', new Date('2026-01-01T00:11:00.000Z')), { run_id: 'b' })
  t.equal(await find('same', new Date('2026-01-01T00:11:00.001Z')), undefined)
})

t.test('a run that failed or timed out is run again, one that was cancelled is not', async (t) => {
  for (const type of ['RunFailed', 'RunTimedOut'] as const) {
    const view = viewAfter(
      runs,
      sessionStream,
      begun('a', 0),
      sessionEvent(type, undefined, { runId: 'a' }),
    )
    t.equal(await findRepeatedRun(view)('same', now), undefined, type)
  }
  const cancelled = sessionEvent('RunCancelled', undefined, { runId: 'a' })
  const find = findRepeatedRun(viewAfter(runs, sessionStream, begun('a', 0), cancelled))
  t.match(await find('same', now), { status: 'cancelled' })
})

t.test('a run that used up what its agent allows is not run again', async (t) => {
  const limited = sessionEvent('RunFailed', undefined, { runId: 'a', code: 'run_limit_reached' })
  const find = findRepeatedRun(viewAfter(runs, sessionStream, begun('a', 0), limited))
  t.match(await find('same', now), { status: 'failed', error_code: 'run_limit_reached' })
})
