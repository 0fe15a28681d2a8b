import { join } from 'node:path'
import type { Page } from 'playwright-core'
import t, { type Test } from 'tap'
import { screenshot } from '../../support/browser.ts'
import {
  axeFindings,
  checkLooks,
  needsConsole,
  settled,
  startConsole,
} from '../../support/console-screens.ts'

const travel = '# Travel\n\nTrains are booked by the office. A bicycle costs four euros a day.\n'

const file = (name: string, text: string) => ({
  name,
  mimeType: '',
  buffer: Buffer.from(text),
})

/** Drops a file as a mouse does that drags it from a folder. */
const drop = async (t: Test, page: Page, name: string, text: string): Promise<void> => {
  const path = join(t.testdir({ [name]: text }), name)
  const zone = page.getByText('or drop them here')
  const { x, y } = (await zone.boundingBox()) ?? { x: 0, y: 0 }
  const session = await page.context().newCDPSession(page)
  const data = { items: [], files: [path], dragOperationsMask: 1 }
  for (const type of ['dragEnter', 'dragOver', 'drop'] as const)
    await session.send('Input.dispatchDragEvent', { type, x: x + 5, y: y + 5, data })
  await session.detach()
}

t.test('knowledge', needsConsole, async (t) => {
  const { page: open, url } = await startConsole(t)

  await t.test('a document is added and asked about', async (t) => {
    const { page } = await open('/knowledge')
    await page.getByRole('link', { name: 'Handbook' }).click()
    await page.getByRole('heading', { name: 'Handbook' }).waitFor()
    await page.locator('input[type=file]').setInputFiles([file('travel.md', travel)])
    const row = page.getByRole('row', { name: 'travel.md' })
    await row.getByText('Completed').waitFor()
    await page.getByRole('tab', { name: 'Search' }).click()
    await page.getByRole('searchbox').fill('What does a bicycle cost?')
    await page.keyboard.press('Enter')
    const first = page.getByRole('list', { name: 'Passages' }).getByRole('listitem').first()
    await first.getByText('A bicycle costs four euros a day').waitFor()
    t.match(await first.innerText(), /travel\.md\s+line \d+, Travel\s+Score [\d.]+/)
    t.match(page.url(), /tab=search&q=What/)
    await screenshot(page, 'console-knowledge-search')
    await page.reload()
    await first.getByText('A bicycle costs four euros a day').waitFor()
  })

  await t.test('a document shows its passages, page by page', async (t) => {
    const { page } = await open('/knowledge')
    await page.getByRole('link', { name: 'Handbook' }).click()
    await page.getByRole('heading', { name: 'Handbook' }).waitFor()
    const parts = Array.from({ length: 25 }, (_, n) => `# Part ${n}\n\nRule ${n}.\n\n`).join('')
    await page.locator('input[type=file]').setInputFiles([file('rules.md', parts)])
    await page.getByRole('row', { name: 'rules.md' }).getByText('Completed').waitFor()
    await page.getByRole('link', { name: 'rules.md' }).click()
    const details = page.getByRole('dialog', { name: 'rules.md' })
    const passages = details.getByRole('region', { name: 'Passages' }).getByRole('listitem')
    await passages.first().getByText('Rule 0.').waitFor()
    t.match(await passages.first().innerText(), /^line 3, Part 0\s+Rule 0\.$/)
    t.equal(await passages.count(), 20)
    await screenshot(page, 'console-knowledge-passages')
    t.strictSame(await axeFindings(page), [])
    await details.getByRole('button', { name: 'Show more passages' }).click()
    await passages.nth(24).getByText('Rule 24.').waitFor()
    t.equal(await passages.count(), 25)
    t.equal(await details.getByRole('button', { name: 'Show more passages' }).count(), 0)
  })

  await t.test('a dropped file that is refused says why', async (t) => {
    const { page } = await open('/knowledge')
    await page.getByRole('link', { name: 'Handbook' }).click()
    await page.getByRole('heading', { name: 'Handbook' }).waitFor()
    await drop(t, page, 'virus.exe', 'MZ')
    const uploads = page.getByRole('list', { name: 'Uploads under way' })
    await uploads.getByRole('alert').waitFor()
    t.match(await uploads.innerText(), /virus\.exe\s+.+/)
    await screenshot(page, 'console-knowledge-refused')
    t.strictSame(await axeFindings(page), [])
    await uploads.getByRole('button', { name: 'Dismiss virus.exe' }).click()
    t.equal(await uploads.count(), 0)
  })

  await t.test('a document that cannot be read shows its error, and is deleted', async (t) => {
    const { page } = await open('/knowledge')
    await page.getByRole('link', { name: 'Handbook' }).click()
    await page.getByRole('heading', { name: 'Handbook' }).waitFor()
    await drop(t, page, 'broken.pdf', 'no document')
    await page.getByRole('row', { name: 'broken.pdf' }).getByText('Failed').waitFor()
    await page.getByRole('link', { name: 'broken.pdf' }).click()
    const details = page.getByRole('dialog', { name: 'broken.pdf' })
    await details.getByText('Error', { exact: true }).waitFor()
    t.match(page.url(), /upload=/)
    await screenshot(page, 'console-knowledge-failed')
    await details.getByRole('button', { name: 'Close' }).click()
    await page.getByRole('button', { name: 'Actions of broken.pdf' }).click()
    await page.getByRole('menuitem', { name: 'Delete' }).click()
    const dialog = page.getByRole('alertdialog', { name: 'Delete broken.pdf?' })
    await dialog.getByRole('button', { name: 'Delete' }).click()
    await page.getByRole('row', { name: 'broken.pdf' }).waitFor({ state: 'detached' })
    t.equal(await page.getByRole('row', { name: 'travel.md' }).count(), 1)
  })

  await t.test('a DataStore is made, and deleted by its name', async (t) => {
    const { page } = await open('/knowledge')
    await page.getByRole('button', { name: 'New DataStore' }).click()
    await page.getByLabel('Name').fill('handbook')
    await page.getByRole('button', { name: 'Create' }).click()
    const dialog = page.getByRole('dialog', { name: 'New DataStore' })
    await dialog.getByText(/exists/).waitFor()
    await page.getByLabel('Name').fill('Contracts')
    await page.getByRole('button', { name: 'Create' }).click()
    await page.getByRole('heading', { name: 'Contracts' }).waitFor()
    await page.getByText('No documents yet').waitFor()
    await page.getByRole('button', { name: 'Actions', exact: true }).click()
    await page.getByRole('menuitem', { name: 'Delete DataStore' }).click()
    const question = page.getByRole('alertdialog', { name: 'Delete Contracts?' })
    const confirm = question.getByRole('button', { name: 'Delete' })
    t.ok(await confirm.isDisabled())
    await question.getByRole('textbox').fill('Contracts')
    await confirm.click()
    await page.waitForURL(`${url}/console/knowledge`)
    await page.getByRole('link', { name: 'Contracts' }).waitFor({ state: 'detached' })
  })

  await t.test('knowledge is accessible in every width and scheme', async (t) => {
    const { page } = await open('/knowledge')
    await checkLooks(t, page, 'knowledge')
    await page.getByRole('link', { name: 'Handbook' }).click()
    await page.getByRole('row', { name: 'travel.md' }).waitFor()
    await settled(page)
    const { pathname } = new URL(page.url())
    await checkLooks(t, page, 'datastore')
    await page.goto(`${url}${pathname}?tab=search&q=bicycle`)
    await page.getByRole('list', { name: 'Passages' }).waitFor()
    await checkLooks(t, page, 'datastore-search')
  })
})
