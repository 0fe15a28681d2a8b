import t from 'tap'
import { fitsWidth, screenshot } from '../../support/browser.ts'
import { user } from '../../support/client.ts'
import { startRuns } from '../../support/console-runs.ts'
import { axeFindings, checkLooks, needsConsole, settled } from '../../support/console-screens.ts'

t.test('why a run failed is found by keyboard alone', needsConsole, async (t) => {
  const { page: open, completedRun, failed } = await startRuns(t)
  await completedRun()
  await failed()
  const { page } = await open('/runs')
  const press = async (key: string, times = 1) => {
    for (let n = 0; n < times; n++) await page.keyboard.press(key)
  }
  /** Tab until what has the focus is named so. */
  const tabTo = async (name: string) => {
    for (let n = 0; n < 60; n++) {
      await press('Tab')
      const focused = await page.evaluate(
        '(document.activeElement.getAttribute("aria-label") ?? document.activeElement.innerText)',
      )
      if (String(focused).trim() === name) return
    }
    throw new Error(`the keyboard did not reach ${name}`)
  }
  await page.getByText('model_misconfigured').waitFor()
  await tabTo('All')
  await press('ArrowRight')
  await press('Space')
  await page.waitForURL(/status=failed/)
  await tabTo('Orchestrator')
  await press('Enter')
  await page.getByText('This run failed').waitFor()
  await page.getByText('the model provider answered 401').waitFor()
  t.match(await page.getByRole('region', { name: 'Outcome' }).innerText(), /model_misconfigured/)
  await tabTo('Show the step')
  await tabTo('Show the step')
  await press('Enter')
  await page.getByText('The warehouse is closed').waitFor()
  await tabTo('Steps')
  await press('Home')
  await page.waitForURL(/step=0(&|$)/)
  await press('ArrowLeft')
  await page.getByRole('row', { name: /Shop/ }).waitFor({ state: 'detached' })
  await press('ArrowRight')
  await press('ArrowRight')
  await page.waitForURL(/step=0\.t(&|$)/)
  await screenshot(page, 'console-run-failed-step')
})

t.test('a search finds words of results and answers, and marks them', needsConsole, async (t) => {
  const { page: open, completedRun } = await startRuns(t)
  const run = await completedRun()
  const { page } = await open(`/runs/${run}`)
  await page.getByText('is on its way').waitFor()
  await page.getByLabel('Search in this run').fill('LAMP')
  await page.waitForURL(/q=LAMP/)
  await page.getByText('2 steps').waitFor()
  t.ok(await page.evaluate("CSS.highlights.get('run-search').size > 0"))
  await page.getByRole('tab', { name: 'Steps (2 of 5)' }).click()
  await page.getByRole('row', { name: /find_order/ }).waitFor()
  await page.reload()
  await page.getByRole('row', { name: /find_order/ }).waitFor()
  await screenshot(page, 'console-run-search')
})

t.test('a message is forked, and its answer regenerated and compared', needsConsole, async (t) => {
  const { page: open, completedRun, provider } = await startRuns(t)
  const run = await completedRun()
  const { page } = await open(`/runs/${run}`)
  const act = async (name: string) => {
    await page.getByRole('button', { name: 'More actions', exact: true }).last().click()
    await page.getByRole('menuitem', { name }).click()
  }
  await act('Fork after this message')
  await page.getByRole('dialog').getByRole('button', { name: 'Fork' }).click()
  await page.getByText('The fork is ready.').waitFor()
  t.match(
    await page.getByRole('link', { name: 'Open in the playground' }).getAttribute('href'),
    /\/console\/playground\?session=/,
  )
  await page.getByRole('button', { name: 'Close' }).click()
  provider.next({ text: 'It was sent on Tuesday.' })
  await act('Regenerate')
  await page.getByRole('dialog').getByRole('button', { name: 'Regenerate' }).click()
  await page.getByText('The new answer is ready.').waitFor()
  await page.getByRole('link', { name: 'Compare' }).click()
  await page.getByText('It was sent on Tuesday.').waitFor()
  await page.getByText('is on its way').waitFor()
  const steps = page.getByRole('table', { name: 'Steps of both runs' })
  await steps.getByText('not there').first().waitFor()
})

t.test('a replay shows what another instruction changes', needsConsole, async (t) => {
  const { page: open, completedRun } = await startRuns(t)
  const run = await completedRun()
  const { page } = await open(`/runs/${run}?tab=replay`)
  await page.getByLabel('Instruction').fill('Answer in French.')
  t.match(await page.locator('main').innerText(), /Answer in French\.\\?"/)
  await page.getByRole('button', { name: 'Replay', exact: true }).click()
  await page.getByText('would change').waitFor()
  t.match(
    await page.getByRole('region', { name: 'Result of the replay' }).innerText(),
    'Answer in French.',
  )
  await settled(page)
  t.strictSame(await axeFindings(page), [])
  await screenshot(page, 'console-run-replayed')
})

t.test(
  'long names, right-to-left texts and a message of 1 MB stay in their places',
  needsConsole,
  async (t) => {
    const { page: open, ask, organization, provider } = await startRuns(t)
    const name = 'An agent whose name is as long as a name may be '.repeat(5).slice(0, 200)
    const agent = await organization.agent({ name, instruction: 'Answer.' })
    provider.next({ text: 'أهلاً وسهلاً، كيف يمكنني **مساعدتك** اليوم؟' })
    const run = await ask('مرحبا، أين طلبي رقم ١٢؟', 'rtl', agent)
    const { page, visit } = await open(`/runs/${run}`)
    await page.getByText('مساعدتك').waitFor()
    await checkLooks(t, page, 'run-long')
    await visit('/runs')
    await page.getByRole('table', { name: 'Runs' }).getByText('Completed').waitFor()
    t.ok(await fitsWidth(page))
    await screenshot(page, 'console-runs-long')
    const large = await ask('words and numbers 12345 '.repeat(40_000), 'large', agent)
    await visit(`/runs/${large}`)
    const all = page.getByRole('button', { name: /Show all 960/ })
    await all.waitFor()
    t.ok((await page.locator('main').innerText()).length < 20_000)
    await all.click()
    await page.getByRole('button', { name: 'Show less' }).waitFor()
    t.ok((await page.locator('main').innerText()).length > 900_000)
    t.ok(await fitsWidth(page))
    t.strictSame(await axeFindings(page), [])
  },
)

t.test('an unknown run says so', needsConsole, async (t) => {
  const { page: open } = await startRuns(t)
  const { page } = await open('/runs/01a21900-8af2-7716-ab49-4b20c515fb4d')
  await page.getByText('There is no such run').waitFor()
  t.strictSame(await axeFindings(page), [])
})

t.test('a run that goes on shows its answer once it is there', needsConsole, async (t) => {
  const { page: open, ask, provider } = await startRuns(t)
  let release = () => {}
  const until = new Promise<void>((resolve) => {
    release = resolve
  })
  provider.next({ text: 'It took a while.', hold: { after: 1, until } })
  const reply = ask('Take your time', 'slow')
  const { page } = await open('/runs')
  const table = page.getByRole('table', { name: 'Runs' })
  await table.getByText('Running').waitFor()
  await table.getByRole('link').first().click()
  await page.getByText('Take your time').waitFor()
  await page.getByText('Running').first().waitFor()
  await page.getByRole('tab', { name: 'Steps' }).click()
  await page.getByRole('treegrid').getByText('Running').first().waitFor()
  await page.getByRole('tab', { name: 'Conversation' }).click()
  release()
  await reply
  await page.getByText('It took a while.').waitFor()
  await page.getByText('Completed').first().waitFor()
})

t.test(
  'the conversation of a provisioned user is shown until it is erased',
  needsConsole,
  async (t) => {
    const { page: open, as, organization, provider } = await startRuns(t)
    const users = '/api/external/management/users'
    const { organizationId: organization_id } = organization
    const email = 'ann@example.com'
    const { user_id } = (await as.ask('POST', users, { email, organization_id })).body
    provider.next({ text: 'It is blue.' })
    const { body } = await as.chat({
      session_id: 'hers',
      on_behalf_of: user_id,
      messages: user('Which color?'),
    })
    const { page } = await open(`/runs/${body.id.replace('chatcmpl-', '')}`)
    await page.getByText('It is blue.').waitFor()
    const erased = await as.ask('DELETE', `${users}/${user_id}/sessions/hers`)
    t.equal(erased.status, 200)
    await page.reload()
    await page.getByText('The conversation was erased').waitFor()
    await page.getByRole('tab', { name: 'Steps (2)' }).click()
    await page.getByRole('row', { name: /Orchestrator/ }).waitFor()
  },
)
