import t, { type Test } from 'tap'
import {
  browser,
  fitsWidth,
  focused,
  hears,
  needsChromium,
  screenshot,
  sends,
} from '../support/browser.ts'
import { connectScene } from '../support/connect-scene.ts'

const value = 'sk-<never>&shown'
const phone = { viewport: { width: 320, height: 640 }, isMobile: true, hasTouch: true }

const scene = async (t: Test) => ({ ...(await connectScene(t)), ...(await browser(t)) })

t.test('by keyboard alone', needsChromium, async (t) => {
  const { page: open, agent, link, application } = await scene(t)
  const { page } = await open()
  await page.goto(await link(await agent('MAP', 'SHOP')))
  const order: string[] = []
  for (let n = 0; n < 4; n++) {
    await page.keyboard.press('Tab')
    const { what, seen } = await focused(page)
    order.push(what)
    t.ok(seen, `${what} shows its focus`)
  }
  t.strictSame(order, ['MAP', 'SHOP', 'BUTTON', 'A'])
  for (let n = 0; n < 3; n++) await page.keyboard.press('Shift+Tab')
  await page.keyboard.type(value)
  await page.keyboard.press('Tab')
  await page.keyboard.type(value)
  await sends(page, () => page.keyboard.press('Enter'))
  await page.getByRole('heading', { name: 'Welcome back' }).waitFor()
  t.equal(page.url(), `${application.url}/back?state=7&status=connected`)
})

t.test('assistive technology reads roles, names and descriptions', needsChromium, async (t) => {
  const { page: open, agent, link } = await scene(t)
  const { page } = await open()
  await page.goto(await link(await agent('MAP', 'SHOP')))
  const title = await page.title()
  t.match(title, /^Connect to Organization/)
  t.equal(await page.locator('html').getAttribute('lang'), 'en')
  t.match(await hears(page), [
    { role: 'main' },
    { role: 'heading', name: title },
    { role: 'status' },
    { role: 'heading', name: 'MAP' },
    {
      role: 'textbox',
      name: 'MAP',
      description: /^Not connected yet It is sent to 127/,
      invalid: false,
    },
    { role: 'heading', name: 'SHOP' },
    { role: 'textbox', name: 'SHOP', description: /^Not connected yet/, invalid: false },
    { role: 'button', name: 'Connect' },
    { role: 'link', name: /^Return to 127\.0\.0\.1/ },
  ])
})

t.test('a value that cannot be used', needsChromium, async (t) => {
  const { page: open, agent, link, connected } = await scene(t)
  const agent_id = await agent('MAP', 'PIN', 'SHOP')
  const { page } = await open(phone)
  await page.goto(await link(agent_id))
  await page.getByLabel('MAP').fill(value)
  await page.getByLabel('SHOP').fill('naïve')
  await sends(page, () => page.getByRole('button').click())
  t.match(await page.title(), /^Error: /)
  t.ok(await fitsWidth(page))
  t.strictSame(await connected(agent_id), { MAP: true, PIN: false, SHOP: false }, 'the others are')
  t.match(await hears(page), [
    { role: 'main' },
    { role: 'heading' },
    { role: 'alert' },
    { role: 'link', name: 'SHOP' },
    { role: 'status' },
    { role: 'heading', name: 'MAP' },
    { role: 'heading', name: 'PIN' },
    { role: 'textbox', name: 'PIN', description: /^Not connected yet/, invalid: false },
    { role: 'heading', name: 'SHOP' },
    { role: 'textbox', name: 'SHOP', description: /cannot be used/, invalid: true },
  ])
  t.equal((await focused(page)).what, 'errors', 'it is read out at once')
  await screenshot(page, 'connect-error')
  await page.keyboard.press('Tab')
  await page.keyboard.press('Enter')
  await page.waitForURL('**/*#SHOP')
  t.equal((await focused(page)).what, 'SHOP', 'it leads to the field')
  t.notMatch(await page.content(), /naïve|sk-/)

  await sends(page, () => page.getByRole('button').click())
  t.match(await page.getByRole('alert').innerText(), 'Nothing was entered')
  t.strictSame(await connected(agent_id), { MAP: true, PIN: false, SHOP: false })
})

t.test('20 of a kind, with the longest names, on a phone', needsChromium, async (t) => {
  const { page: open, agent, link, organization, server } = await scene(t)
  const names = Array.from({ length: 22 }, (_, n) => `A${n + 10}_`.padEnd(64, 'W'))
  await server.platform.ask('PATCH', `/organizations/${organization.organizationId}`, {
    name: 'W'.repeat(100),
  })
  const { page } = await open(phone)
  await page.goto(await link(await agent(...names)))
  t.equal(await page.getByRole('textbox').count(), 20)
  t.ok(await fitsWidth(page))
  await screenshot(page, 'connect-20')
  for (const name of names.slice(0, 20)) await page.getByLabel(name).fill(value)
  await sends(page, () => page.getByRole('button').click())
  await page.getByRole('heading', { name: 'Welcome back' }).waitFor()
})
