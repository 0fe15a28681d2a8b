import t from 'tap'
import { fitsWidth, screenshot } from '../../support/browser.ts'
import { startRuns } from '../../support/console-runs.ts'
import { axeFindings, needsConsole, settled } from '../../support/console-screens.ts'

t.test(
  'a filter is at one click, in the address, and survives a reload',
  needsConsole,
  async (t) => {
    const { page: open, completedRun, failed } = await startRuns(t)
    await completedRun()
    await failed()
    const { page } = await open('/runs')
    const rows = page.getByRole('table', { name: 'Runs' }).locator('tbody tr')
    await rows.nth(1).waitFor()
    await page.getByRole('radio', { name: 'Failed' }).click()
    await page.waitForURL(/status=failed/)
    await page.getByText('model_misconfigured').waitFor()
    await rows.nth(1).waitFor({ state: 'detached' })
    await page.reload()
    await page.getByText('model_misconfigured').waitFor()
    t.equal(await rows.count(), 1)
    await page.getByLabel('Session').fill('elsewhere')
    await page.keyboard.press('Enter')
    await page.getByText('No runs match these filters').waitFor()
    await settled(page)
    t.strictSame(await axeFindings(page), [])
    await screenshot(page, 'console-runs-no-match')
    await page.getByRole('button', { name: 'Clear filters' }).last().click()
    await rows.nth(1).waitFor()
    t.match(page.url(), /\/console\/runs$/)
  },
)

t.test(
  'the order is the server’s, and next and previous keep filters and order',
  needsConsole,
  async (t) => {
    const { page: open, ask } = await startRuns(t)
    await ask('One', 'a')
    await ask('Two with many more words than the first message has', 'b')
    await ask('Three has some words', 'c')
    const { page } = await open('/runs?session_id=b')
    await page.getByRole('table', { name: 'Runs' }).getByText('Completed').waitFor()
    await page.getByRole('table', { name: 'Runs' }).getByRole('link').first().click()
    await page.getByText('Two with many more words').waitFor()
    t.ok(await page.getByRole('button', { name: 'Next run' }).isDisabled(), 'one run in the filter')
    await page.getByRole('link', { name: 'Runs' }).last().click()
    await page.waitForURL(/runs\?session_id=b/)
    await page.getByRole('button', { name: 'Clear filters' }).click()
    await page.getByRole('button', { name: 'Tokens' }).click()
    await page.waitForURL(/sort=tokens/)
    t.match(
      await page.getByRole('columnheader', { name: 'Tokens' }).getAttribute('aria-sort'),
      'descending',
    )
    await page.getByRole('table', { name: 'Runs' }).getByRole('link').first().click()
    await page.getByText('Two with many more words').waitFor()
    // The key does nothing before the next run is known.
    const next = page.getByRole('button', { name: 'Next run', disabled: false })
    await next.waitFor()
    await page.keyboard.press('j')
    await page.getByText('Three has some words').waitFor()
    t.match(page.url(), /sort=tokens/)
    await next.waitFor()
    await page.keyboard.press('j')
    await page.getByText('One', { exact: true }).waitFor()
    t.ok(await page.getByRole('button', { name: 'Next run' }).isDisabled())
    await page.getByRole('button', { name: 'Previous run' }).click()
    await page.getByText('Three has some words').waitFor()
  },
)

t.test(
  'new runs are announced, and the list does not move before it is told to',
  needsConsole,
  async (t) => {
    const { page: open, ask } = await startRuns(t)
    await ask('One', 'a')
    const { page } = await open('/runs')
    const rows = page.getByRole('table', { name: 'Runs' }).locator('tbody tr')
    await rows.first().getByText('Completed').waitFor()
    await ask('Two', 'b')
    const more = page.getByRole('button', { name: 'Show 1 more run' })
    await more.waitFor()
    t.equal(await rows.count(), 1)
    await more.click()
    await rows.nth(1).waitFor()
  },
)

t.test('pages follow the server’s cursor', needsConsole, async (t) => {
  const { page: open, ask } = await startRuns(t)
  for (let n = 0; n < 51; n++) await ask(`Message ${n}`, 'many')
  const { page } = await open('/runs')
  const rows = page.getByRole('table', { name: 'Runs' }).locator('tbody tr')
  await rows.nth(49).waitFor()
  await page.getByRole('button', { name: 'Next', exact: true }).click()
  await page.waitForURL(/cursor=/)
  await rows.nth(1).waitFor({ state: 'detached' })
  t.equal(await rows.count(), 1)
  await page.reload()
  await rows.first().getByText('Completed').waitFor()
  t.equal(await rows.count(), 1)
  await page.getByRole('button', { name: 'First' }).click()
  await rows.nth(49).waitFor()
})

t.test('an empty list says how runs get there', needsConsole, async (t) => {
  const { page: open } = await startRuns(t)
  const { page } = await open('/runs')
  await page.getByText('No runs yet').waitFor()
  t.strictSame(await axeFindings(page), [])
  await screenshot(page, 'console-runs-empty')
})

t.test('a key without the scope reads which one is missing', needsConsole, async (t) => {
  const { page: open, newKey } = await startRuns(t)
  const { page } = await open('/runs', undefined, await newKey())
  await page.getByText('You may not see the runs of the organization').waitFor()
  t.match(await page.locator('main').innerText(), /admin:read/)
  t.strictSame(await axeFindings(page), [])
  await screenshot(page, 'console-runs-forbidden')
})

t.test('a failure has the server’s words and a way to try again', needsConsole, async (t) => {
  const { page: open, ask } = await startRuns(t)
  await ask('One', 'a')
  const { page } = await open('/feeds')
  const headers = { 'x-error-code': 'service_unavailable', 'x-request-id': 'r-1' }
  const body = JSON.stringify({ error: { message: 'Out of order', type: 'x', code: 'x' } })
  await page.route(/\/runs\?/, (route) =>
    route.fulfill({ status: 400, contentType: 'application/json', headers, body }),
  )
  await page.getByRole('link', { name: 'Runs', exact: true }).click()
  const alert = page.getByRole('alert')
  await alert.getByText('Out of order').waitFor()
  await screenshot(page, 'console-runs-failed')
  await page.unroute(/\/runs\?/)
  await alert.getByRole('button', { name: 'Try again' }).click()
  await page.getByRole('table', { name: 'Runs' }).getByText('Completed').waitFor()
  t.ok(await fitsWidth(page))
})
