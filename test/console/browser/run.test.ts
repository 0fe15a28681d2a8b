import t from 'tap'
import { startRuns } from '../../support/console-runs.ts'
import { checkLooks, needsConsole } from '../../support/console-screens.ts'

t.test('a run is accessible in each look', needsConsole, async (t) => {
  const { page: open, completedRun, failed } = await startRuns(t)
  const run = await completedRun()
  await completedRun('orders', 'And my order A-2?')
  const failedRun = await failed()
  const { page, complaints, visit } = await open('/runs')
  await page.getByRole('table', { name: 'Runs' }).getByText('Failed').waitFor()
  await checkLooks(t, page, 'runs')
  await visit(`/runs/${run}`)
  await page.getByText('is on its way').waitFor()
  await checkLooks(t, page, 'run-conversation')
  await visit(`/runs/${run}?tab=steps&step=0.t%2F1%2F0`)
  await page.getByText('Arguments').first().waitFor()
  await checkLooks(t, page, 'run-steps')
  await visit(`/runs/${failedRun}`)
  await page.getByText('This run failed').waitFor()
  await page.getByText('Is the lamp in stock?').waitFor()
  await checkLooks(t, page, 'run-failed')
  await visit(`/runs/${run}?tab=charge`)
  await page.getByText('216 × 2.5 + 76 × 10').waitFor()
  await checkLooks(t, page, 'run-charge')
  await visit(`/runs/${run}?tab=replay`)
  await page.getByText('Replay with curl').waitFor()
  await checkLooks(t, page, 'run-replay')
  await visit(`/runs/${run}?tab=json`)
  await page.getByText('Run with curl').waitFor()
  await checkLooks(t, page, 'run-json')
  await visit(`/runs/compare?a=${run}&b=${failedRun}`)
  await page.getByText('is on its way').waitFor()
  await checkLooks(t, page, 'run-compare')
  t.strictSame(
    complaints.filter((line) => !line.includes('401')),
    [],
  )
})
