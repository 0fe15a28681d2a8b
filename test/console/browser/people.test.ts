import t from 'tap'
import { screenshot } from '../../support/browser.ts'
import { client } from '../../support/client.ts'
import {
  axeFindings,
  checkLooks,
  needsConsole,
  settled,
  startConsole,
} from '../../support/console-screens.ts'

const ask = (text: string) => ({ messages: [{ role: 'user' as const, content: text }] })

t.test('people and keys', needsConsole, async (t) => {
  const { page: open, key, organizationId, url } = await startConsole(t)
  const at = `${url}/api/admin/organizations/${organizationId}`
  await client(url, key).chat(ask('How many days of leave are there?'))

  await t.test('invites a member, changes the role, and removes the invitation', async (t) => {
    const { page } = await open('/people')
    await page.getByRole('button', { name: 'Invite' }).click()
    const dialog = page.getByRole('dialog')
    await dialog.getByLabel('Email').fill('ann@example.com')
    await dialog.getByLabel('Name').fill('Ann')
    t.strictSame(await axeFindings(page), [])
    await screenshot(page, 'console-people-invite')
    await dialog.getByRole('button', { name: 'Invite' }).click()
    const row = page.getByRole('row', { name: 'Ann' })
    await row.getByText('Invited').waitFor()

    await row.getByRole('button', { name: 'Actions for Ann' }).click()
    await page.getByRole('menuitem', { name: 'Change role to admin' }).click()
    await page.getByRole('button', { name: 'Change', exact: true }).click()
    await row.getByText('Admin').waitFor()

    await row.getByRole('button', { name: 'Actions for Ann' }).click()
    await page.getByRole('menuitem', { name: 'Remove invitation' }).click()
    const question = page.getByRole('alertdialog', { name: 'Remove the invitation of Ann?' })
    await question.getByRole('button', { name: 'Remove' }).click()
    await row.waitFor({ state: 'detached' })
  })

  await t.test('refuses an invitation in the words of the server', async () => {
    const { page } = await open('/people')
    await page.getByRole('button', { name: 'Invite' }).click()
    const dialog = page.getByRole('dialog')
    await dialog.getByLabel('Email').fill('nobody')
    await dialog.getByRole('button', { name: 'Invite' }).click()
    await dialog.getByText(/email/i).last().waitFor()
  })

  await t.test('makes a key, which works once it is copied, until it is revoked', async (t) => {
    const { page, context } = await open('/people?tab=keys')
    await context.grantPermissions(['clipboard-read', 'clipboard-write'])
    await page.getByRole('button', { name: 'Create key' }).click()
    const dialog = page.getByRole('dialog')
    await dialog.getByLabel('Name').fill('Website')
    await dialog.getByText('admin:read').click()
    t.strictSame(await axeFindings(page), [])
    await screenshot(page, 'console-key-create')
    await dialog.getByRole('button', { name: 'Create' }).click()
    const created = page.getByRole('alertdialog', { name: 'The key is created' })
    await created.getByRole('button', { name: 'Copy api key' }).click()
    await page.getByText('API key copied').waitFor()
    await screenshot(page, 'console-key-created')
    const newKey: string = await page.evaluate('navigator.clipboard.readText()')
    const status = async () =>
      (await fetch(`${at}/members`, { headers: { 'x-api-key': newKey } })).status
    t.equal(await status(), 200)
    await created.getByRole('button', { name: 'Done' }).click()
    t.equal(await page.getByText(newKey).count(), 0, 'it is not shown again')

    const row = page.getByRole('row', { name: 'Website' })
    await row.getByText(newKey.slice(-4)).waitFor()
    await row.getByRole('button', { name: 'Actions for Website' }).click()
    await page.getByRole('menuitem', { name: 'Revoke' }).click()
    await page.getByRole('alertdialog').getByRole('button', { name: 'Revoke' }).click()
    await row.waitFor({ state: 'detached' })
    t.equal(await status(), 401)
  })

  await t.test('explains a charge down to its events', async (t) => {
    const { page } = await open('/people?tab=credits')
    await page.getByRole('list', { name: 'Owners' }).getByText('Plan:').waitFor()
    await page.getByRole('radio', { name: 'By agent' }).focus()
    await page.keyboard.press('Space')
    await page.waitForURL(/by=agent_id/)
    await page
      .getByRole('table', { name: 'Usage' })
      .getByRole('link', { name: 'Librarian' })
      .click()
    await page.waitForURL(/agent_id=/)
    await page.getByRole('heading', { name: 'Charges: Librarian' }).waitFor()
    const runs = page.getByRole('table', { name: 'Charges' })
    await runs.getByRole('link').first().click()
    await page.waitForURL(/\/charges\//)
    const terms = page.getByRole('table', { name: 'Calculation of run' })
    await terms
      .getByText(/ × .* = .* micro-credits/)
      .first()
      .waitFor()
    const events = page.getByRole('table', { name: 'Events of run' })
    await events.getByRole('link').first().click()
    await page.waitForURL(/\/history\?after=\d+/)
    const first = page.getByRole('list', { name: 'Events by request' }).locator('summary').first()
    t.match(await first.innerText(), /ModelAnswered|RunCompleted/)
  })

  await t.test('says that a run is unknown', async (t) => {
    const { page } = await open('/charges/0198c0de-0000-7000-8000-000000000000')
    await page.getByRole('alert').getByText('run_not_found').waitFor()
    t.pass('in the words of the server')
  })

  await t.test('says which role is missing', async (t) => {
    const headers = { 'x-api-key': key, 'content-type': 'application/json' }
    const body = JSON.stringify({ name: 'Reader', scopes: ['rag:read'] })
    const reply = await fetch(`${at}/api-keys`, { method: 'POST', headers, body })
    const { key: newKey } = (await reply.json()) as { key: string }
    for (const path of ['/people', '/history', '/charges/r-1']) {
      const { page } = await open(path, undefined, newKey)
      await page.getByText('It needs the scope admin:read').waitFor()
    }
    t.pass('on each of the screens')
  })

  await t.test('is accessible in every width and scheme', async (t) => {
    const reply = await fetch(`${at}/runs`, { headers: { 'x-api-key': key } })
    const { runs } = (await reply.json()) as { runs: { run_id: string }[] }
    const { page } = await open('/people')
    for (const [path, name] of [
      ['/people', 'people'],
      ['/people?tab=users', 'people-users'],
      ['/people?tab=keys', 'people-keys'],
      ['/people?tab=credits', 'people-credits'],
      [`/charges/${runs[0]?.run_id}`, 'charge'],
    ] as const) {
      await page.goto(`${url}/console${path}`)
      await page.locator('main h1').waitFor()
      await settled(page)
      await checkLooks(t, page, name)
    }
  })
})
