import t from 'tap'
import { user } from '../../support/client.ts'
import { startRuns } from '../../support/console-runs.ts'
import { axeFindings, needsConsole, settled, startConsole } from '../../support/console-screens.ts'

t.test('journey: erase a conversation', needsConsole, async (t) => {
  const { page: open, as, organization, provider, ask } = await startRuns(t)
  const { organizationId: organization_id } = organization
  const account = { email: 'ann@example.com', name: 'Ann', organization_id }
  const { user_id } = (await as.ask('POST', '/api/external/management/users', account)).body
  provider.next({ text: 'It is blue.' })
  await as.chat({ session_id: 'hers', on_behalf_of: user_id, messages: user('Which color?') })
  await ask('Which size?', 'own')

  const { page } = await open('/runs')
  await page.getByLabel('Session').fill('hers')
  await page.keyboard.press('Enter')
  await page.waitForURL(/session_id=hers/)
  await page.getByRole('table', { name: 'Runs' }).getByRole('link').first().click()
  await page.getByText('It is blue.').waitFor()
  await page.getByRole('button', { name: 'More actions of the run' }).click()
  await page.getByRole('menuitem', { name: 'Erase conversation…' }).click()
  const dialog = page.getByRole('alertdialog', { name: 'Erase the conversation hers?' })
  t.ok(await dialog.getByRole('button', { name: 'Erase' }).isDisabled(), 'its name is typed first')
  t.strictSame(await axeFindings(page), [])
  await dialog.getByLabel('Type hers to confirm').fill('hers')
  await dialog.getByRole('button', { name: 'Erase' }).click()
  await dialog.waitFor({ state: 'detached' })
  await page.getByText('The conversation was erased').waitFor()
  t.equal(await page.getByText('It is blue.').count(), 0)

  await page
    .getByRole('navigation', { name: 'Screens' })
    .getByRole('link', { name: 'History' })
    .click()
  await page.getByLabel('Type').fill('SessionErased')
  await page.getByRole('button', { name: 'Apply' }).click()
  const events = page.getByRole('list', { name: 'Events by request' })
  await events.locator('summary').getByText('SessionErased').click()
  await events.getByText(`"sessionOwner": "${user_id}"`).waitFor()

  await page
    .getByRole('navigation', { name: 'Screens' })
    .getByRole('link', { name: 'Runs' })
    .click()
  await page.getByLabel('Session').fill('own')
  await page.keyboard.press('Enter')
  await page.getByRole('table', { name: 'Runs' }).getByRole('link').first().click()
  await page.getByText('Which size?').waitFor()
  await page.getByRole('button', { name: 'More actions of the run' }).click()
  await page.getByRole('menuitem', { name: 'Erase conversation…' }).click()
  const question = page.getByRole('alertdialog', { name: 'Erase the conversation own?' })
  await question.getByRole('textbox').fill('own')
  await question.getByRole('button', { name: 'Erase' }).click()
  await question.getByRole('alert').waitFor()
  await question.getByRole('button', { name: 'Cancel' }).click()
  await page.getByText('Which size?').waitFor()
})

t.test('an erasure is offered only with its scope', needsConsole, async (t) => {
  const { page: open, newKey, ask } = await startRuns(t)
  const run = await ask('Which size?', 'own')
  const scopes = ['admin:read', 'sessions:messages']
  const { page } = await open(`/runs/${run}`, undefined, await newKey({ scopes }))
  await page.getByRole('button', { name: 'More actions of the run' }).click()
  await page.getByRole('menuitem', { name: 'Copy as curl' }).waitFor()
  t.equal(await page.getByRole('menuitem', { name: 'Erase conversation…' }).count(), 0)
})

t.test('journey: find who changed what', needsConsole, async (t) => {
  const { page: open } = await startConsole(t)
  const { page } = await open('/agents')
  const screens = page.getByRole('navigation', { name: 'Screens' })
  await page.getByRole('list', { name: 'Team' }).getByRole('link', { name: 'Concierge' }).click()
  await page.getByRole('textbox', { name: 'Description' }).fill('Arranges journeys')
  await page.getByRole('button', { name: 'Save' }).click()
  await page.getByText('Concierge saved').waitFor()

  await screens.getByRole('link', { name: 'History' }).click()
  await page.getByRole('heading', { level: 1, name: 'History' }).waitFor()
  await page.getByLabel('Type').fill('AgentChanged')
  await page.getByRole('button', { name: 'Apply' }).click()
  await page.waitForURL(/type=AgentChanged/)
  const events = page.getByRole('list', { name: 'Events by request' })
  await events.locator('summary').getByText('AgentChanged').first().click()
  await events.getByText('"description": "Arranges journeys"').waitFor()
  await events.getByText(/^by /).first().waitFor()
  t.ok(await events.locator('time[datetime]').first().getAttribute('title'), 'with date and zone')

  await screens.getByRole('link', { name: 'Agents' }).click()
  await page.getByRole('list', { name: 'Team' }).getByRole('link', { name: 'Concierge' }).click()
  await page.getByRole('tab', { name: 'History' }).click()
  const change = page.getByRole('button', { name: /^Description.*by Demo Owner/ })
  await change.locator('time[datetime]').waitFor()
  await change.click()
  await page.locator('main ins').getByText('Arranges journeys').waitFor()
  t.match(await page.locator('main del').innerText(), /\w/, 'with what was there before')
  await settled(page)
  t.strictSame(await axeFindings(page), [])
})
