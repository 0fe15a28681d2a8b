import t from 'tap'
import { focused, screenshot } from '../../support/browser.ts'
import {
  axeFindings,
  checkLooks,
  needsConsole,
  startConsole,
} from '../../support/console-screens.ts'

const headingOf = (page: import('playwright-core').Page) => page.locator('main h1').innerText()

t.test('opens every screen by keyboard alone', needsConsole, async (t) => {
  const { page: open, url } = await startConsole(t)
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

t.test('the skip link comes first, and leads past the sidebar', needsConsole, async (t) => {
  const { page: open } = await startConsole(t)
  const { page } = await open('/feeds')
  await page.reload()
  await page.locator('main h1').waitFor()
  await page.keyboard.press('Tab')
  t.equal(await page.locator(':focus').innerText(), 'Skip to content')
  t.match(await focused(page), { seen: true })
  await page.keyboard.press('Enter')
  t.equal((await focused(page)).what, 'main')
})

t.test('finds screens and commands by name in the palette', needsConsole, async (t) => {
  const { page: open, url } = await startConsole(t)
  const { page, complaints } = await open('/')
  await page.keyboard.press('Control+k')
  await page.getByRole('dialog', { name: 'Search and commands' }).waitFor()
  t.strictSame(await axeFindings(page), [])
  await screenshot(page, 'console-palette')
  await page.keyboard.type('know')
  await page.keyboard.press('ArrowDown')
  await page.keyboard.press('Enter')
  await page.waitForURL(`${url}/console/knowledge`)
  t.equal(await page.getByRole('dialog').count(), 0)

  await page.keyboard.press('Control+k')
  await page.keyboard.type('dark')
  await page.keyboard.press('ArrowDown')
  await page.keyboard.press('Enter')
  await page.locator('html[data-theme=dark]').waitFor({ state: 'attached' })
  await page.reload()
  await page.locator('html[data-theme=dark]').waitFor({ state: 'attached' })
  t.strictSame(
    complaints.filter((line) => !line.includes('401')),
    [],
  )
})

t.test('lists its shortcuts, and has a switch for single letters', needsConsole, async (t) => {
  const { page: open, url } = await startConsole(t)
  const { page } = await open('/')
  await page.locator('main').focus()
  await page.keyboard.type('?')
  const dialog = page.getByRole('dialog', { name: 'Keyboard shortcuts' })
  await dialog.getByText('Runs').waitFor()
  t.strictSame(await axeFindings(page), [])
  await screenshot(page, 'console-shortcuts')
  await dialog.getByText('Shortcuts of single letters').click()
  await page.keyboard.press('Escape')
  await dialog.waitFor({ state: 'detached' })
  await page.keyboard.type('gr')
  t.equal(page.url(), `${url}/console/`)
})

t.test('shows only the screens that the key may open', needsConsole, async (t) => {
  const { page: open, organizationId, key, url } = await startConsole(t)
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

t.test('an unknown address says so', needsConsole, async (t) => {
  const { page: open } = await startConsole(t)
  const { page } = await open('/no/such/page')
  t.equal(await headingOf(page), 'Not found')
})

t.test('the shell is accessible in every width and scheme', needsConsole, async (t) => {
  const { page: open } = await startConsole(t)
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
