import t from 'tap'
import { checkLooks, needsConsole, signIn, startConsole } from '../../support/console-screens.ts'

t.test('the sign-in', needsConsole, async (t) => {
  const { page: open, key, url } = await startConsole(t)

  await t.test('signs in with a key and opens the address that was asked for', async (t) => {
    const { page, context, complaints } = await open('/feeds', undefined, null)
    await page.getByRole('heading', { name: 'Sign in' }).waitFor()
    t.equal(await page.title(), 'Sign in · Reprise')

    await page.getByLabel('API key').fill('sk-unknown')
    await page.keyboard.press('Enter')
    await page.getByText('Invalid or expired API key').waitFor()
    t.equal(await page.getByLabel('API key').getAttribute('aria-invalid'), 'true')

    await page.getByLabel('API key').fill(` ${key}\n`)
    await page.keyboard.press('Enter')
    await page.getByRole('heading', { name: 'Feeds' }).waitFor()
    t.equal(page.url(), `${url}/console/feeds`)
    const cookies = await context.cookies()
    t.match(cookies, [{ name: 'reprise_session', httpOnly: true, sameSite: 'Strict' }])
    const stored = await page.evaluate('JSON.stringify({ ...localStorage, ...sessionStorage })')
    t.notMatch(String(stored), key, 'the key is stored nowhere')

    await page.reload()
    await page.getByRole('heading', { name: 'Feeds' }).waitFor()
    t.strictSame(
      complaints.filter((line) => !line.includes('401')),
      [],
    )
  })

  await t.test('asks for a key again once the session has ended elsewhere', async (t) => {
    const { page, context } = await open('/')
    await context.clearCookies()
    await page.getByRole('link', { name: 'Feeds' }).click()
    await page.getByText('Your session has ended').waitFor()
    await signIn(page, key)
    t.equal(await page.getByRole('heading', { level: 1 }).innerText(), 'Feeds')
  })

  await t.test('signs out, and shows nothing of before to whoever comes next', async (t) => {
    const { page, context } = await open('/')
    await page.getByRole('button', { name: 'Account' }).click()
    await page.getByRole('menuitem', { name: 'Sign out', exact: true }).click()
    await page.getByRole('heading', { name: 'Sign in' }).waitFor()
    t.strictSame(await context.cookies(), [])
    await page.goto(`${url}/console/feeds`)
    await page.getByRole('heading', { name: 'Sign in' }).waitFor()
  })

  await t.test('the sign-in is accessible in every width and scheme', async (t) => {
    const { page } = await open('/', undefined, null)
    await page.getByRole('heading', { name: 'Sign in' }).waitFor()
    await checkLooks(t, page, 'sign-in')
  })
})
