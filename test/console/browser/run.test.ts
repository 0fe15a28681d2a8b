import t from 'tap'
import { fitsWidth, screenshot } from '../../support/browser.ts'
import { startRuns } from '../../support/console-runs.ts'
import { axeFindings, looks, needsConsole, settled } from '../../support/console-screens.ts'

const opensTabs = { timeout: 60_000 }

t.test('the list and a run are accessible in each look', needsConsole, async (t) => {
  const { page: open, answered, failed } = await startRuns(t)
  const answeredRun = await answered()
  await answered('orders', 'And my order A-2?')
  const failedRun = await failed()
  for (const { name, options } of looks) {
    const { page, complaints } = await open('/runs', options)
    const shoot = async (screen: string) => {
      await settled(page)
      t.ok(await fitsWidth(page), `${screen} fits ${name}`)
      t.strictSame(await axeFindings(page), [], `${screen} ${name}`)
      await screenshot(page, `console-${screen}-${name}`)
    }
    const go = async (address: string, text: string) => {
      await page.evaluate(`history.pushState(null, '', '/console${address}')`)
      await page.evaluate(`dispatchEvent(new PopStateEvent('popstate'))`)
      await page.getByText(text).first().waitFor(opensTabs)
    }
    await page.getByRole('table', { name: 'Runs' }).getByText('Failed').waitFor(opensTabs)
    await shoot('runs')
    await go(`/runs/${answeredRun}`, 'is on its way')
    await shoot('run-conversation')
    await go(`/runs/${answeredRun}?tab=steps&step=0.1%2F1%2F0`, 'Collapse all')
    await page.getByText('Arguments').first().waitFor(opensTabs)
    await shoot('run-steps')
    await go(`/runs/${failedRun}`, 'This run failed')
    await shoot('run-failed')
    await go(`/runs/${answeredRun}?tab=replay`, 'Replay with curl')
    await shoot('run-replay')
    await go(`/runs/${answeredRun}?tab=json`, 'Run with curl')
    await shoot('run-json')
    await go(`/runs/compare?a=${answeredRun}&b=${failedRun}`, 'Second run')
    await page.getByText('is on its way').waitFor(opensTabs)
    await shoot('run-compare')
    t.strictSame(
      complaints.filter((line) => !line.includes('401')),
      [],
    )
    await page.close()
  }
})
