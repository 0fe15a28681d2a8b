import type { Locator, Page } from 'playwright-core'
import t from 'tap'
import { browser, fitsWidth, needsChromium, screenshot } from '../support/browser.ts'
import { startDemo } from '../support/demo.ts'
import { eventually } from '../support/eventually.ts'
import { contractOf, operationsOf } from '../support/open-api.ts'

// A request of each group by its buttons. Each takes seconds of rendering, so that all examples are
// sent without a browser, in test/http/server/examples.
t.setTimeout(300_000)

const authorize = async (page: Page, key: string) => {
  await page.locator('.auth-wrapper .authorize').click()
  const dialog = page.locator('.dialog-ux')
  await dialog.locator('input').first().fill(key)
  await dialog.locator('button.authorize').first().click()
  await dialog.locator('.btn-done').first().click()
}

/** A click without the way of the mouse, which takes seconds on a page as long as this. */
const press = (button: Locator) => button.dispatchEvent('click')

/** Examples are filled in a moment after their fields are shown. */
const isFilledIn = (block: Locator) => async (): Promise<boolean> => {
  const fields = await block.locator('tr:has(.required) input, textarea').all()
  const values = await Promise.all(fields.map((field) => field.inputValue()))
  return values.every(Boolean)
}

/** What the demo organization does not have, or what is for the platform. */
const others =
  /\{(?:event_id|response_id|approval_id|run_id|user_id|key_id|content_id|name|tile)\}|api\/(?:admin\/(?:platform|projections|master-key|identity|users)|me\/)|external\/me\/|\/instruction$|cancel|\/charges$|\/stream$|\/ws\/|^\/console\/|^\/api\/admin\/organizations$|management\/users$/

t.test('/docs works as it stands', needsChromium, async (t) => {
  const { url, key } = await startDemo(t)
  const { page: open } = await browser(t)
  const { page: home } = await open()
  await home.goto(`${url}/`)
  t.equal(new URL(home.url()).pathname, '/console/', '/ leads to the console')
  const { page, complaints } = await open()
  await page.goto(`${url}/docs`)
  t.equal(await page.title(), 'Reprise: API reference')
  await page.locator('img[src^="data:image/svg"]').waitFor()
  await page.locator('.opblock').first().waitFor()
  const tags: string[] = await page.evaluate(
    `[...document.querySelectorAll('.opblock-tag')].map(({ id }) => id)`,
  )
  t.equal(tags[0], 'operations-tag-chat', 'chat comes first')
  const described = await page.locator('.opblock-tag small').count()
  t.equal(described, tags.length, 'every group says what it is for')
  await screenshot(page, 'docs')
  await authorize(page, key)

  const groups = new Set<string>()
  let tried = 0
  for (const { path, method, operation } of operationsOf(await contractOf(url))) {
    const stream = operation.responses['200']?.content?.['text/event-stream']
    const json = operation.responses['200']?.content?.['application/json']
    if (method === 'delete' || others.test(path) || (stream && !json)) continue
    const what = `${method} ${path}`
    const group = operation.tags?.[0] ?? ''
    if (groups.has(group)) continue
    groups.add(group)
    const block = page.locator(`.opblock-${method}`, {
      has: page.locator(`[data-path="${path}"]`),
    })
    await press(block.locator('.opblock-summary-control'))
    await eventually(isFilledIn(block))
    await press(block.locator('.execute'))
    const status = block.locator('.live-responses-table tbody .response-col_status').first()
    t.match(await status.innerText(), /^20\d/, what)
    tried++
    if (path.endsWith('/chat/completions')) await screenshot(page, 'docs-chat')
    await press(block.locator('.opblock-summary-control'))
  }
  t.ok(tried > 8, `${tried} requests`)
  t.strictSame(complaints, [])
})

t.test('/docs on a phone, light and dark', needsChromium, async (t) => {
  const { url } = await startDemo(t)
  const { page: open } = await browser(t)
  for (const colorScheme of ['light', 'dark'] as const) {
    const viewport = { width: 360, height: 740 }
    const { page, complaints } = await open({ viewport, isMobile: true, colorScheme })
    await page.goto(`${url}/docs`)
    await page.locator('.opblock').first().waitFor()
    t.equal(await page.evaluate('innerWidth'), viewport.width, 'as wide as the phone')
    t.ok(await fitsWidth(page))
    const bar = await page.evaluate(
      `getComputedStyle(document.querySelector('.topbar')).backgroundColor`,
    )
    t.equal(bar, 'rgb(19, 78, 74)', 'our color')
    await screenshot(page, `docs-phone-${colorScheme}`)
    t.strictSame(complaints, [])
  }
})
