import t from 'tap'
import { screenshot } from '../../support/browser.ts'
import { client, user } from '../../support/client.ts'
import {
  axeFindings,
  checkLooks,
  needsConsole,
  startConsole,
} from '../../support/console-screens.ts'

t.test('the feeds', needsConsole, async (t) => {
  const { page: open, key, organizationId, url } = await startConsole(t)

  await t.test('lists the read models, and follows one as it changes', async (t) => {
    const { page } = await open('/feeds')
    await page.getByRole('link', { name: 'sessions' }).click()
    await page.waitForURL(`${url}/console/feeds/sessions`)
    await page.getByText('Live', { exact: true }).last().waitFor()
    await page.getByText('No changes yet').waitFor()
    await client(url, key).chat({ messages: user('hello') })
    const change = page.getByRole('list', { name: 'Changes' }).getByRole('listitem').last()
    await change.click()
    await change.getByText(`"organization_id": "${organizationId}"`).waitFor()
    t.strictSame(await axeFindings(page), [])
    await screenshot(page, 'console-feed-live')

    await page.getByRole('button', { name: 'Pause' }).click()
    await page.getByText('Paused').waitFor()
    const before = await page.getByRole('status').filter({ hasText: 'change' }).innerText()
    await client(url, key).chat({ messages: user('once more') })
    await page.getByRole('button', { name: 'Resume' }).click()
    await page.getByRole('status').filter({ hasText: 'change', hasNotText: before }).waitFor()
    t.pass('it resumes with the changes that it missed')
  })

  await t.test('shows the fields of a read model, and lines that read it elsewhere', async (t) => {
    const { page, context } = await open('/feeds/usage?tab=schema')
    const fields = page.getByRole('table', { name: 'Fields of usage' })
    t.match(await fields.getByRole('row', { name: 'prompt_tokens' }).innerText(), 'integer')
    await page.getByRole('tab', { name: 'Read elsewhere' }).click()
    await page.waitForURL(/tab=read/)
    await context.grantPermissions(['clipboard-read', 'clipboard-write'])
    await page.getByRole('button', { name: 'Copy curl, every document up to now' }).click()
    await page.getByText('copied').waitFor()
    const copied: string = await page.evaluate('navigator.clipboard.readText()')
    t.match(copied, `curl '${url}/api/admin/organizations/${organizationId}/feeds/usage'`)
  })

  await t.test('says that there is no such read model', async (t) => {
    const { page } = await open('/feeds/nothing')
    await page.getByText('There is no such read model').waitFor()
    await page.locator('main').getByRole('link', { name: 'Feeds' }).first().click()
    await page.getByRole('heading', { name: 'Feeds' }).waitFor()
    t.equal(page.url(), `${url}/console/feeds`)
  })

  await t.test('the feeds are accessible in every width and scheme', async (t) => {
    const { page } = await open('/feeds')
    for (const [path, name] of [
      ['/feeds', 'feeds'],
      ['/feeds/usage?tab=schema', 'feed-schema'],
      ['/feeds/usage?tab=read', 'feed-read'],
    ] as const) {
      await page.goto(`${url}/console${path}`)
      await page.locator('main h1').waitFor()
      await checkLooks(t, page, name)
    }
  })
})
