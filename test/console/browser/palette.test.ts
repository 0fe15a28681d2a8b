import t from 'tap'
import { screenshot } from '../../support/browser.ts'
import { axeFindings, needsConsole, startConsole } from '../../support/console-screens.ts'

t.test('the palette', needsConsole, async (t) => {
  const { page: open, url } = await startConsole(t)

  await t.test('finds screens and commands by name in the palette', async (t) => {
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

  await t.test('lists its shortcuts, and has a switch for single letters', async (t) => {
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
})
