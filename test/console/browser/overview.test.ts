import t from 'tap'
import { screenshot } from '../../support/browser.ts'
import { client } from '../../support/client.ts'
import { checkLooks, needsConsole, startConsole } from '../../support/console-screens.ts'

const ask = (text: string) => ({ messages: [{ role: 'user' as const, content: text }] })

t.test('the overview', needsConsole, async (t) => {
  const { page: open, key, url } = await startConsole(t)

  await t.test('counts a run as soon as it has ended, without a reload', async (t) => {
    const { page } = await open('/')
    await page.getByText('No runs yet').waitFor()
    await client(url, key).chat(ask('How many days of leave are there?'))
    const runs = page.locator('dl', { hasText: 'Runs' }).first()
    await runs.getByText('1', { exact: true }).waitFor()
    const table = page.getByRole('table', { name: 'Usage by agent' })
    t.match(await table.innerText(), /Librarian\s+1\s+0/)

    await page.getByRole('button', { name: 'Show Runs by agent as a table' }).click()
    const today = new Date().toISOString().slice(0, 10)
    const row = page.getByRole('row', { name: today })
    t.match(await row.innerText(), /1$/)
  })

  await t.test('keeps the range in the address', async (t) => {
    const { page } = await open('/?range=7')
    const range = page.getByRole('radiogroup', { name: 'Time range' })
    t.ok(await range.getByRole('radio', { name: '7 days' }).isChecked())
    await range.getByRole('radio', { name: '7 days' }).focus()
    await page.keyboard.press('ArrowLeft')
    await page.waitForURL(/\?range=90$/)
    await page.reload()
    t.ok(await range.getByRole('radio', { name: '90 days' }).isChecked())
    await page.getByText('By model').click()
    await page.waitForURL(/by=model/)
    await page.getByRole('table', { name: 'Usage by model' }).waitFor()
  })

  await t.test('leads to what needs attention', async (t) => {
    const headers = { 'x-api-key': key, 'content-type': 'application/json' }
    const rag = `${url}/api/external/rag`
    const list = await fetch(`${rag}/datastores`, { headers })
    const { datastores } = (await list.json()) as { datastores: { datastore_id: string }[] }
    const content = Buffer.from('%PDF-1.7 and nothing else').toString('base64')
    const files = [{ filename: 'broken.pdf', content_type: 'application/pdf', content }]
    const body = JSON.stringify({ datastore_id: datastores[0]?.datastore_id, files })
    t.ok((await fetch(`${rag}/upload`, { method: 'POST', headers, body })).ok)
    const { page } = await open('/')
    const attention = page.getByRole('region', { name: 'Needs attention' })
    await attention.getByText('1 upload failed').waitFor()
    await screenshot(page, 'console-overview-attention')
    await attention.getByRole('link').click()
    await page.waitForURL(`${url}/console/knowledge`)
  })

  await t.test('says so where the usage cannot be read', async (t) => {
    const { page } = await open('/people')
    const body = JSON.stringify({ error: { message: 'Out of order', type: 'x', code: 'x' } })
    const headers = { 'x-error-code': 'service_unavailable', 'x-request-id': 'r-1' }
    await page.route(/\/usage\?from/, (route) =>
      route.fulfill({ status: 400, contentType: 'application/json', headers, body }),
    )
    await page.getByRole('link', { name: 'Overview' }).click()
    const alert = page.getByRole('alert')
    await alert.getByText('Out of order').waitFor()
    t.match(await alert.innerText(), /service_unavailable · request r-1/)
    await screenshot(page, 'console-overview-failed')
    await page.unroute(/\/usage\?from/)
    await alert.getByRole('button', { name: 'Try again' }).click()
    await page.getByRole('table', { name: 'Usage by agent' }).waitFor()
  })

  await t.test('the overview is accessible in every width and scheme', async (t) => {
    await client(url, key).chat(ask('How many days of leave are there?'))
    await client(url, key).chat(ask('hello'))
    const { page, complaints } = await open('/')
    await page.getByRole('table', { name: 'Usage by agent' }).waitFor()
    await checkLooks(t, page, 'overview')
    t.strictSame(
      complaints.filter((line) => !line.includes('401')),
      [],
    )
  })
})
