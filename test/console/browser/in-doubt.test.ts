import t from 'tap'
import { screenshot } from '../../support/browser.ts'
import { user } from '../../support/client.ts'
import { axeFindings, needsConsole, openConsole } from '../../support/console-screens.ts'
import { eventually } from '../../support/eventually.ts'
import { apiCall, countingWorld } from '../../support/run-world.ts'
import { startServer } from '../../support/server.ts'

// Two lives of a server.
t.setTimeout(300_000)

t.test('a call in doubt is listed until its outcome is reported', needsConsole, async (t) => {
  const { provider, tools, env } = await countingWorld(t)
  const server = await startServer(t, env)
  const organization = await server.platform.organization()
  const pay = apiCall(tools.url, 'pay', 'POST', { on_unknown: 'ask' })
  const shop = await organization.agent({ name: 'Shop', tools: [pay] })
  const { key } = await organization.key({ type: 'user', user_id: organization.ownerId })
  tools.hold('/pay')
  provider.next({ text: 'I pay. ', calls: [{ name: 'pay', arguments: { order: 'A-1' } }] })
  const turn = server
    .as(key)
    .chat({ model: shop, session_id: 'doubt', messages: user('Pay A-1') })
    .catch(() => undefined)
  await tools.received('/pay', 1)
  await server.kill9()
  await server.restart()
  await turn
  const status = async () => (await server.as(key).status('doubt')).body
  await eventually(async () => (await status()).state === 'in_doubt')

  const open = await openConsole(t, { url: server.url, key })
  const { page } = await open('/approvals')
  await page.getByRole('tab', { name: 'In doubt (1)' }).click()
  await page.waitForURL(/tab=in_doubt/)
  const runs = page.getByRole('list', { name: 'Runs in doubt' })
  await runs.getByText('pay', { exact: true }).waitFor()
  t.strictSame(await axeFindings(page), [])
  await screenshot(page, 'console-in-doubt')
  await runs.getByRole('button', { name: 'Report outcome' }).click()
  const dialog = page.getByRole('alertdialog', { name: 'Was pay called?' })
  t.ok(await dialog.getByRole('radio', { name: 'It was made' }).isChecked())
  await dialog.getByLabel('Result').fill('{"receipt": 7}')
  await screenshot(page, 'console-in-doubt-outcome')
  t.strictSame(await axeFindings(page), [])
  await dialog.getByRole('button', { name: 'Report outcome' }).click()
  await page.getByText('No tool is in doubt').waitFor()
  await eventually(async () => {
    const { is_processing, state } = await status()
    return !is_processing && !state
  })
  const last = provider.requests.at(-1)
  t.match(JSON.stringify(last), 'receipt')
})
