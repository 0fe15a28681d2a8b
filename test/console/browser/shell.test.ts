import t from 'tap'
import { fitsWidth, focused, screenshot } from '../../support/browser.ts'
import {
  axeFindings,
  checkLooks,
  needsConsole,
  startConsole,
} from '../../support/console-screens.ts'

const headingOf = (page: import('playwright-core').Page) => page.locator('main h1').innerText()

t.test('the shell', needsConsole, async (t) => {
  const { page: open, organizationId, key, url } = await startConsole(t)

  await t.test('opens every screen by keyboard alone', async (t) => {
    const { page } = await open('/')
    for (const [keys, path, heading] of [
      ['gr', 'runs', 'Runs'],
      ['gp', 'playground', 'Playground'],
      ['ga', 'agents', 'Agents'],
      ['gk', 'knowledge', 'Knowledge'],
      ['gc', 'content', 'Content'],
      ['gv', 'approvals', 'Approvals'],
      ['gm', 'people', 'People and keys'],
      ['gh', 'history', 'History'],
      ['gf', 'feeds', 'Feeds'],
      ['go', '', 'Overview'],
    ] as const) {
      await page.locator('main').focus()
      await page.keyboard.type(keys)
      await page.waitForURL(`${url}/console/${path}`)
      await page.getByRole('heading', { level: 1, name: heading }).waitFor()
      t.equal(await page.title(), `${heading} · Reprise`)
      t.equal((await focused(page)).what, 'main', 'the focus is in the new screen')
      const current = page.locator('nav a[aria-current=page]')
      t.equal(await current.innerText(), heading)
    }
  })

  await t.test('the skip link comes first, and leads past the sidebar', async (t) => {
    const { page } = await open('/feeds')
    await page.reload()
    await page.locator('main h1').waitFor()
    await page.keyboard.press('Tab')
    t.equal(await page.locator(':focus').innerText(), 'Skip to content')
    t.match(await focused(page), { seen: true })
    await page.keyboard.press('Enter')
    t.equal((await focused(page)).what, 'main')
  })

  await t.test('shows only the screens that the key may open', async (t) => {
    const reply = await fetch(`${url}/api/admin/organizations/${organizationId}/api-keys`, {
      method: 'POST',
      headers: { 'x-api-key': key, 'content-type': 'application/json' },
      body: JSON.stringify({ name: 'chat', scopes: ['orchestrator:invoke', 'content:read'] }),
    })
    const { key: chatKey } = (await reply.json()) as { key: string }
    const { page } = await open('/', undefined, chatKey)
    await page.waitForURL(`${url}/console/playground`)
    t.strictSame(
      await page.getByRole('navigation', { name: 'Screens' }).getByRole('link').allInnerTexts(),
      ['Playground', 'Content'],
    )
  })

  await t.test('an unknown address says so', async (t) => {
    const { page } = await open('/no/such/page')
    t.equal(await headingOf(page), 'Not found')
  })

  await t.test('a long name stays within the sidebar, in its own direction', async (t) => {
    const name = 'اسم طويل جدا '.repeat(15).trim()
    const reply = await fetch(`${url}/api/admin/organizations/${organizationId}`, {
      method: 'PATCH',
      headers: { 'x-api-key': key, 'content-type': 'application/json' },
      body: JSON.stringify({ name }),
    })
    t.equal(reply.status, 200)
    const { page } = await open('/people')
    const label = page.getByTitle(name)
    await label.waitFor()
    const box = await label.boundingBox()
    t.ok(box && box.x + box.width < 240 && box.height < 30)
    t.equal(await label.getAttribute('dir'), 'auto')
    t.ok(await fitsWidth(page))
    await screenshot(page, 'console-shell-long-name')
  })

  await t.test('the shell is accessible in every width and scheme', async (t) => {
    const { page } = await open('/people')
    await checkLooks(t, page, 'shell')
    await page.setViewportSize({ width: 360, height: 740 })
    await page.getByRole('button', { name: 'Open the menu' }).click()
    await page.getByRole('dialog', { name: 'Menu' }).waitFor()
    t.strictSame(await axeFindings(page), [])
    await screenshot(page, 'console-menu')
    await page.getByRole('link', { name: 'Feeds' }).click()
    await page.getByRole('heading', { name: 'Feeds' }).waitFor()
    t.equal(await page.getByRole('dialog').count(), 0)
  })
})
