import t from 'tap'
import { focused, screenshot } from '../../support/browser.ts'
import { client } from '../../support/client.ts'
import {
  axeFindings,
  checkLooks,
  needsConsole,
  settled,
  startConsole,
} from '../../support/console-screens.ts'
import { answers, ask, turnEnd } from '../../support/playground.ts'

t.test('the playground', needsConsole, async (t) => {
  const { page: open, key, organizationId, url } = await startConsole(t)
  const api = client(url, key)

  await t.test('journey: first start to first answer, by keyboard alone', async (t) => {
    const { page } = await open('/', undefined, null)
    await page.getByLabel('API key').waitFor()
    await page.getByLabel('API key').focus()
    await page.keyboard.type(key)
    await page.keyboard.press('Enter')
    await page.locator('main#main h1').waitFor()
    await page.locator('main').focus()
    await page.keyboard.type('gp')
    await page.waitForURL(`${url}/console/playground`)
    await page.getByRole('heading', { name: 'Playground' }).waitFor()
    await page.keyboard.press('Tab')
    for (let steps = 0; steps < 12; steps++) {
      if ((await page.locator('textarea:focus').count()) > 0) break
      await page.keyboard.press('Tab')
    }
    await page.locator('textarea:focus').waitFor()
    t.match(await focused(page), { seen: true })
    await page.keyboard.type('How many days of leave are there?')
    await page.keyboard.press('Enter')
    await turnEnd(page)
    t.match(await answers(page).last().innerText(), /Librarian[\s\S]*28 days of paid leave/)
    t.match(page.url(), /session=[0-9a-f-]{36}/)
    t.equal(await page.locator('textarea:focus').count(), 1, 'the next message can be typed')
  })

  await t.test('shows agents and tools of the latest turn, also after a reload', async (t) => {
    const { page } = await open('/playground')
    await ask(page, 'How many days of leave are there?')
    await turnEnd(page)
    await page.reload()
    const activity = page.getByText('Orchestrator, Librarian · search_knowledge')
    await activity.click()
    await page.getByText('handed over to Librarian').waitFor()
    await page.getByRole('link', { name: 'Open run' }).waitFor()
    t.equal(await page.getByRole('article').count(), 2)
    t.strictSame(await axeFindings(page), [])
  })

  await t.test('shows a picture and a sound that an agent generates', async (t) => {
    const { page } = await open('/playground')
    await ask(page, 'Draw an image of a lighthouse')
    await turnEnd(page)
    const picture = page.getByRole('img', { name: 'Draw an image of a lighthouse' })
    await picture.waitFor()
    t.ok(await page.evaluate("document.querySelector('main img').decode().then(() => true)"))
    await ask(page, 'Create a sound of rain')
    await page.locator('audio[src]').waitFor()
    t.strictSame(await axeFindings(page), [])
    await screenshot(page, 'console-playground-content')
  })

  await t.test('approves a waiting call in place, and denies one with a reason', async (t) => {
    const { body: careful } = await api.ask(
      'POST',
      `/api/admin/organizations/${organizationId}/agents`,
      { name: 'Careful', tools: [{ type: 'remember', requires_approval: true }] },
    )
    const { page } = await open(`/playground?agent=${careful.agent_id}`)
    await ask(page, 'Remember that my train leaves at 9:14')
    const approval = page.getByRole('region', { name: 'Approval of remember' })
    await approval.getByText('my train leaves at 9:14').waitFor()
    t.strictSame(await axeFindings(page), [])
    await screenshot(page, 'console-playground-approval')

    await page.reload()
    await approval.getByRole('button', { name: 'Approve' }).click()
    await page.getByText('I will remember that').first().waitFor()
    await turnEnd(page)
    t.equal(await approval.count(), 0)

    await ask(page, 'Remember that I take tea at four')
    await approval.getByText('I take tea at four').waitFor()
    await approval.getByRole('button', { name: 'Deny…' }).click()
    await approval.getByLabel('Reason').fill('Not now')
    t.strictSame(await axeFindings(page), [])
    await approval.getByRole('button', { name: 'Deny call' }).click()
    await approval.waitFor({ state: 'detached' })
    await turnEnd(page)
    const { body } = await api.ask('GET', '/api/external/approvals')
    t.match(body.approvals, [
      { status: 'denied', reason: 'Not now' },
      { status: 'approved', reason: null },
    ])
  })

  await t.test('stops a turn that waits for an approval', async (t) => {
    const { body } = await api.ask('GET', '/api/external/agents')
    const careful = body.agents.find(({ name }: { name: string }) => name === 'Careful')
    const { page } = await open(`/playground?agent=${careful.agent_id}`)
    await ask(page, 'Remember that I like the window seat')
    const approval = page.getByRole('region', { name: 'Approval of remember' })
    await approval.getByText('I like the window seat').waitFor()
    await page.getByRole('button', { name: 'Stop' }).click()
    await page.getByText('Stopped', { exact: true }).waitFor()
    t.equal(await approval.count(), 0)
    const { body: decided } = await api.ask('GET', '/api/external/approvals')
    t.equal(decided.approvals[0].status, 'withdrawn')
  })

  await t.test('forks a conversation, and regenerates an answer in a fork', async (t) => {
    const { page } = await open('/playground')
    await ask(page, 'When is the office open?')
    await turnEnd(page)
    await ask(page, 'And how many days of leave?')
    await turnEnd(page)
    const first = new URL(page.url()).searchParams.get('session')
    await answers(page).nth(0).getByRole('button', { name: 'More actions' }).click()
    await page.getByRole('menuitem', { name: 'Fork from here' }).click()
    await page.getByText('Forked into a conversation of its own').waitFor()
    await page.waitForURL((address) => address.searchParams.get('session') !== first)
    await settled(page)
    t.equal(await page.getByRole('article').count(), 2)

    const fork = new URL(page.url()).searchParams.get('session')
    await answers(page).last().getByRole('button', { name: 'More actions' }).click()
    await page.getByRole('menuitem', { name: 'Regenerate' }).click()
    await page.waitForURL((address) => address.searchParams.get('session') !== fork)
    await turnEnd(page)
    t.match(await answers(page).last().innerText(), /8:00 to 18:00/)
    const { body } = await api.messages(first ?? '')
    t.equal(body.total, 4, 'the first conversation is as it was')
  })

  await t.test('shows what was done as code, in the language of the address', async (t) => {
    const { page, context } = await open('/playground')
    await ask(page, 'Hello')
    await turnEnd(page)
    await context.grantPermissions(['clipboard-read', 'clipboard-write'])
    await page.getByRole('button', { name: 'Code' }).click()
    const dialog = page.getByRole('dialog', { name: 'The same as code' })
    await dialog.getByRole('button', { name: 'Copy curl' }).click()
    const curl: string = await page.evaluate('navigator.clipboard.readText()')
    t.match(curl, /"content": "Hello"/)
    t.match(curl, `${url}/api/external/v1/chat/completions`)
    await dialog.getByRole('tab', { name: 'TypeScript' }).click()
    await page.waitForURL(/code=typescript/)
    await dialog.getByText('await fetch').waitFor()
    t.strictSame(await axeFindings(page), [])
    await screenshot(page, 'console-playground-code')
    await page.keyboard.press('Escape')
    await dialog.waitFor({ state: 'detached' })
  })

  await t.test('says that a conversation is unknown, and which scope is missing', async () => {
    const { page } = await open('/playground?session=nothing-here')
    await page.getByText('There is no such conversation').waitFor()
    const { body } = await api.ask('POST', `/api/admin/organizations/${organizationId}/api-keys`, {
      name: 'whole answers',
      scopes: ['orchestrator:invoke'],
    })
    const { page: other } = await open('/playground', undefined, body.key)
    await other.getByText('orchestrator:stream').waitFor()
  })

  await t.test('is accessible in every look', async (t) => {
    const { page } = await open('/playground')
    await checkLooks(t, page, 'playground-empty')
    await ask(page, 'How many days of leave are there?')
    await turnEnd(page)
    await ask(page, 'Draw an image of a lighthouse')
    await turnEnd(page)
    await page.getByRole('img', { name: 'Draw an image of a lighthouse' }).waitFor()
    await page.getByText('Orchestrator, Studio').click()
    await checkLooks(t, page, 'playground')
  })
})
