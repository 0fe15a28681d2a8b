import t, { type Test } from 'tap'
import { browser, fitsWidth, hears, needsChromium, screenshot, sends } from '../support/browser.ts'
import { user } from '../support/client.ts'
import { connectScene } from '../support/connect-scene.ts'
import { shopCall } from '../support/shop-call.ts'

const value = 'sk-<never>&shown'
const phone = { viewport: { width: 320, height: 640 }, isMobile: true, hasTouch: true }

const scene = async (t: Test) => ({ ...(await connectScene(t)), ...(await browser(t)) })

t.test('from the link to a call in the name of its user', needsChromium, async (t) => {
  const { page: open, agent, link, connected, application, key, shop, user_id } = await scene(t)
  for (const options of [{}, { ...phone, javaScriptEnabled: false }]) {
    const name = 'javaScriptEnabled' in options ? 'phone' : 'desktop'
    await t.test(name, async (t) => {
      const wanted = [`TOKEN_${name.toUpperCase()}`, `MAP_${name.toUpperCase()}`] as const
      const agent_id = await agent(...wanted)
      const { page, context, complaints } = await open(options)
      const reply = await page.goto(await link(agent_id))
      const headers = (await reply?.allHeaders()) ?? {}
      t.match(headers['content-security-policy'], /^default-src 'none'; style-src 'sha256-[^']+';/)
      t.equal(headers['cache-control'], 'no-store')
      const main = await page.locator('main').boundingBox()
      t.ok((main?.width ?? 1_000) <= 600, 'its own style is let through')
      t.ok(await fitsWidth(page))
      t.equal(await page.getByRole('status').innerText(), '0 of 2 connected')
      await screenshot(page, `connect-${name}`)

      await page.getByLabel(wanted[0]).fill(value)
      await sends(page, () => page.getByRole('button', { name: 'Connect' }).click())
      t.equal(await page.getByRole('status').innerText(), '1 of 2 connected')
      t.strictSame(await connected(agent_id), { [wanted[0]]: true, [wanted[1]]: false })
      t.equal(await page.getByLabel(wanted[0]).inputValue(), '')
      t.notMatch(await page.content(), /sk-/)
      await screenshot(page, `connect-${name}-half`)

      await page.getByLabel(wanted[1]).fill(value)
      await sends(page, () => page.getByRole('button', { name: 'Connect' }).click())
      await page.getByRole('heading', { name: 'Welcome back' }).waitFor()
      t.equal(page.url(), `${application.url}/back?state=7&status=connected`)
      t.strictSame(await connected(agent_id), { [wanted[0]]: true, [wanted[1]]: true })
      const back = application.requests.find(({ url }) => url?.startsWith('/back'))
      t.equal(back?.headers.referer, undefined, 'the partner is not told the link')
      await page.goBack()
      t.equal(await page.getByRole('status').innerText(), '✓ Everything is connected.')
      for (const field of await page.getByRole('textbox').all())
        t.equal(await field.inputValue(), '', 'nothing is kept in the history')
      t.strictSame(await Promise.all(wanted.map((name) => page.getByLabel(name).inputValue())), [
        '',
        '',
      ])
      await screenshot(page, `connect-${name}-done`)
      const save = page.getByRole('button', { name: 'Save what you replaced' })
      t.notOk(await save.isVisible(), 'there is nothing to save')
      await page.getByText('Replace it').first().click()
      t.ok(await save.isVisible())
      t.strictSame(await context.cookies(), [])
      t.strictSame(complaints, [])

      const chat = await key.chat({
        on_behalf_of: user_id,
        target_agent_id: agent_id,
        messages: user('Call shop'),
      })
      t.equal(chat.status, 200)
      t.match(shop.requests.at(-1), {
        url: '/stock',
        headers: { [`x-${wanted[0].toLowerCase()}`]: value },
      })
      t.notMatch(JSON.stringify(chat.body), /sk-/)
    })
  }
})

t.test('a form of another page', needsChromium, async (t) => {
  const { page: open, agent, link, connected } = await scene(t)
  const agent_id = await agent('SHOP')
  const { page } = await open()
  await page.goto(await link(agent_id))
  await page.getByLabel('SHOP').fill(value)
  await page.evaluate(`document.querySelector('[name=csrf]').value = '${'0'.repeat(64)}'`)
  const reply = await sends(page, () => page.getByRole('button').click())
  t.equal(reply, 403)
  t.match(await hears(page), [{ role: 'main' }, { role: 'heading', name: 'This did not work' }])
  t.strictSame(await connected(agent_id), { SHOP: false })
  await screenshot(page, 'connect-refused')
})

t.test('no other page has it in a frame', needsChromium, async (t) => {
  const { page: open, agent, link, application } = await scene(t)
  const { page } = await open()
  await page.goto(application.url)
  const url = await link(await agent('SHOP'))
  const refusal = page.waitForEvent('console')
  await page.setContent(`<iframe src="${url}"></iframe>`)
  t.match((await refusal).text(), "frame-ancestors 'none'")
  await page.frameLocator('iframe').locator('body').waitFor({ state: 'attached' })
  t.equal(await page.frameLocator('iframe').getByRole('textbox').count(), 0)
})

t.test('links that are past or revoked, and one that was used', needsChromium, async (t) => {
  const { page: open, agent, link, clock, key, of, application } = await scene(t)
  const agent_id = await agent('SHOP')
  const { page, complaints } = await open(phone)
  const expectNotFound = async (url: string) => {
    const reply = await page.goto(url)
    t.equal(reply?.status(), 404)
    t.ok(await fitsWidth(page))
    return page.content()
  }
  const used = await link(agent_id)
  await page.goto(used)
  await page.getByLabel('SHOP').fill(value)
  await sends(page, () => page.getByRole('button').click())
  await page.waitForURL(`${application.url}/**`)
  await page.goto(used)
  t.equal(await page.getByRole('status').innerText(), '✓ Everything is connected.')
  t.equal(await page.getByRole('textbox').count(), 0, 'a value is replaced only on purpose')
  await page.getByText('Replace it').click()
  t.match(
    (await hears(page)).find(({ role }) => role === 'textbox'),
    { name: 'SHOP', description: /^Connected Since \d+ \w+ \d{4}/ },
  )

  complaints.splice(0)
  await key.ask('DELETE', `${of}/connect-links`)
  const revoked = await expectNotFound(used)
  const past = await link(agent_id)
  await page.goto(past)
  await page.getByText('Replace it').click()
  await page.getByLabel('SHOP').fill('too late')
  clock.advance(30 * 60_000)
  const late = await sends(page, () => page.getByRole('button').click())
  t.equal(late, 404)
  t.equal(await page.content(), revoked)
  t.equal(await expectNotFound(past), revoked)
  t.equal(await expectNotFound(new URL('/connect/unknown', past).href), revoked)
  t.match(await hears(page), [
    { role: 'main' },
    { role: 'heading', name: 'This link does not work' },
  ])
  await screenshot(page, 'connect-gone')
})

t.test('in the words of the agent and the color of the organization', needsChromium, async (t) => {
  const { page: open, link, organization, server, shop } = await scene(t)
  await server.platform.ask('PATCH', `/organizations/${organization.organizationId}`, {
    name: 'Bäckerei <Süß>',
    color: '#ffd43b',
  })
  const agent_id = await organization.agent({
    name: 'Shopper',
    tools: [shopCall(shop.url, 'SHOP', 'MAP_API_KEY')],
    credentials: [
      {
        name: 'SHOP',
        label: 'Shop password <b>',
        description: 'Lets the assistant read your orders & returns.',
        help_url: 'https://help.example/keys?a=1&b="2"',
      },
    ],
  })
  const url = await link(agent_id)
  for (const colorScheme of ['light', 'dark'] as const) {
    const { page, complaints } = await open({ colorScheme })
    await page.goto(url)
    t.match(await page.locator('.brand').innerText(), 'Bäckerei <Süß>')
    const painted = await page.evaluate(`(() => {
      const { backgroundColor, color } = getComputedStyle(document.querySelector('button'))
      return { backgroundColor, color }
    })()`)
    t.strictSame(painted, { backgroundColor: 'rgb(255, 212, 59)', color: 'rgb(0, 0, 0)' })
    t.ok(await page.getByText('Lets the assistant read your orders & returns.').isVisible())
    t.ok(await page.getByLabel('Shop password <b>').isVisible())
    t.ok(await page.getByLabel('Map API key').isVisible(), 'a name that nobody has described')
    const help = page.getByRole('link', { name: 'Where to find this' })
    t.equal(await help.getAttribute('href'), 'https://help.example/keys?a=1&b="2"')
    t.equal(await help.getAttribute('rel'), 'noopener noreferrer')
    t.strictSame(complaints, [])
    await screenshot(page, `connect-words-${colorScheme}`)
  }
})
