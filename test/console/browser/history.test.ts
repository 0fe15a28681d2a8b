import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { Page } from 'playwright-core'
import t from 'tap'
import { deferred } from '../../../src/support/deferred.ts'
import { screenshot } from '../../support/browser.ts'
import { client } from '../../support/client.ts'
import {
  axeFindings,
  checkLooks,
  needsConsole,
  settled,
  startConsole,
} from '../../support/console-screens.ts'

const ask = (text: string) => ({ messages: [{ role: 'user' as const, content: text }] })

const oldestFirst = async (page: Page) => {
  await page.getByRole('button', { name: /Order/ }).click()
  await page.getByRole('option', { name: 'Oldest first' }).click()
  await page.getByRole('button', { name: 'Apply' }).click()
  await page.waitForURL(/order=asc/)
}

const proofOf = (page: Page) => page.getByRole('region', { name: 'Proof' })

t.test('the history', needsConsole, async (t) => {
  const { page: open, key, organizationId, url } = await startConsole(t)
  const at = `${url}/api/admin/organizations/${organizationId}`
  for (const text of ['How many days of leave are there?', 'hello', 'When is the office open?'])
    await client(url, key).chat(ask(text))
  const reply = await fetch(`${at}/runs`, { headers: { 'x-api-key': key } })
  const { runs } = (await reply.json()) as { runs: { run_id: string }[] }
  const runId = runs[0]?.run_id

  await t.test('a filter that is typed while the events load stays', async (t) => {
    const { page } = await open('/history?type=RunStarted')
    const groups = page.getByRole('list', { name: 'Events by request' })
    await groups.getByText('RunStarted').first().waitFor()
    const arrival = deferred<undefined>()
    await page.route(/audit\/events/, async (route) => {
      await arrival.promise
      await route.continue()
    })
    await page.reload()
    const type = page.getByLabel('Type')
    await type.fill('RunCompleted')
    arrival.resolve(undefined)
    await groups.getByText('RunStarted').first().waitFor()
    t.equal(await type.inputValue(), 'RunCompleted')
  })

  await t.test('lists events by request, and filters them in the address', async (t) => {
    const { page } = await open('/history')
    const groups = page.getByRole('list', { name: 'Events by request' })
    await groups.getByText('RunCompleted').first().waitFor()
    t.equal(await groups.getByText('OrganizationCreated').count(), 0, 'the newest first')
    await oldestFirst(page)
    await groups.getByText('OrganizationCreated').waitFor()
    await page.getByLabel('Type').fill('RunCompleted')
    await page.getByRole('button', { name: 'Apply' }).click()
    await page.waitForURL(/type=RunCompleted/)
    await page.reload()
    const event = groups.getByText('RunCompleted')
    await event.last().click()
    await groups.getByText(`"runId": "${runId}"`).waitFor()
    t.equal(await groups.getByText('OrganizationCreated').count(), 0)

    await groups.getByRole('link', { name: 'Charge of the run' }).waitFor()
    await groups.getByRole('link', { name: 'Events of the run' }).first().click()
    await page.waitForURL(/run_id=/)
    await page.waitForURL(/order=asc/)
    await groups.getByText('RunStarted').waitFor()
    t.equal(await groups.getByText('RunCompleted').count(), 1, 'of one run')
    await page.getByRole('button', { name: 'Clear' }).click()
    await page.waitForURL((address) => address.search === '')
    await groups.getByText('RunCompleted').nth(1).waitFor()
    await page.getByRole('button', { name: 'Next' }).click()
    await page.waitForURL(/after=\d+/)
    await groups.getByText('OrganizationCreated').waitFor()
    t.equal(await groups.getByText('RunCompleted').count(), 0, 'the next page is older')
  })

  await t.test('a run leads to its events, the oldest first', async (t) => {
    const { page } = await open(`/runs/${runId}`)
    await page.getByRole('link', { name: 'Events of this run' }).click()
    await page.waitForURL(/history\?.*run_id=/)
    const groups = page.getByRole('list', { name: 'Events by request' })
    await groups.getByText('RunStarted').waitFor()
    await groups.getByText('RunCompleted').waitFor()
    t.equal(await page.getByLabel('Run', { exact: true }).inputValue(), runId)
    t.equal(await groups.getByText('OrganizationCreated').count(), 0)
  })

  await t.test('shows a read model as it was, and the difference of two moments', async (t) => {
    // Its first document is later than the organization, also by a clock of milliseconds.
    const { page } = await open('/history?tab=states&view=sessions&as_of=0')
    await page.getByText('No documents at that time').waitFor()
    const slider = page.getByRole('slider', { name: 'As of' })
    await page.getByRole('button', { name: 'Now' }).click()
    await page.getByRole('list', { name: 'Documents of sessions' }).waitFor()
    t.notMatch(page.url(), /as_of/)
    await slider.focus()
    await page.keyboard.press('Home')
    await page.waitForURL(/as_of=2/)
    await page.getByText('No documents at that time').waitFor()

    await page.goto(`${url}/console/history?tab=differences&view=members`)
    const differences = page.getByRole('list', { name: 'Differences of members' })
    await differences.getByText('New').first().waitFor()
    await differences.getByRole('listitem').first().click()
    await differences.getByText('"role": "OWNER"').waitFor()
    t.strictSame(await axeFindings(page), [])
  })

  await t.test('exports the history and verifies it', async (t) => {
    const { page } = await open('/history')
    const proof = proofOf(page)
    await proof.getByText('Signature verified').waitFor()
    await page.reload()
    await proof.getByText('History verified', { exact: true }).waitFor()
    await proof.getByText('What is verified').click()
    await proof.getByText('What this does not show').waitFor()
    t.strictSame(await axeFindings(page), [])
    await screenshot(page, 'console-history-proof')

    await oldestFirst(page)
    await page.getByText('OrganizationCreated').click()
    await page.getByRole('button', { name: 'Verify this event' }).click()
    await page.getByText('Event verified', { exact: true }).waitFor()
    t.strictSame(await axeFindings(page), [])
    await screenshot(page, 'console-history-event')

    await page.getByRole('tab', { name: 'Export' }).click()
    const [download] = await Promise.all([
      page.waitForEvent('download'),
      page.getByRole('link', { name: 'Events', exact: true }).click(),
    ])
    const file = join(t.testdir(), 'events.ndjson')
    await download.saveAs(file)
    const lines = (await readFile(file, 'utf8')).trimEnd().split('\n')
    const size = /^\d+$/m.exec(
      await (await fetch(`${at}/audit/checkpoint`, { headers: { 'x-api-key': key } })).text(),
    )
    t.equal(lines.length, Number(size?.[0]))
    await page.getByText('reprise audit verify history.ndjson').waitFor()
  })

  await t.test('turns red when the server tampers with an event', async (t) => {
    const { page } = await open('/history?order=asc')
    await proofOf(page).getByText('Signature verified').waitFor()
    await page.route(/audit\/export/, async (route) => {
      const answer = await route.fetch()
      const body = (await answer.text()).replace('Demo', 'Dema')
      await route.fulfill({ response: answer, body })
    })
    await page.getByText('OrganizationCreated').click()
    await page.getByRole('button', { name: 'Verify this event' }).click()
    await page.getByText('Verification failed').waitFor()
    await page.getByText(/was altered: it is not the one that was signed/).waitFor()
    t.strictSame(await axeFindings(page), [])
    await screenshot(page, 'console-history-tampered-event')
  })

  await t.test('turns red when the server goes back to an older history', async (t) => {
    const { page } = await open('/history')
    const proof = proofOf(page)
    await proof.getByText('Signature verified').waitFor()
    const older = await (
      await fetch(`${at}/audit/checkpoint`, { headers: { 'x-api-key': key } })
    ).text()
    await client(url, key).chat(ask('hello'))
    await proof.getByRole('button', { name: 'Verify' }).first().click()
    await proof.getByText('History verified', { exact: true }).waitFor()
    await page.route(/audit\/checkpoint/, (route) => route.fulfill({ body: older }))
    await proof.getByRole('button', { name: 'Verify' }).first().click()
    await proof.getByText('Verification failed').waitFor()
    await proof.getByText(/Events were removed/).waitFor()
    const [download] = await Promise.all([
      page.waitForEvent('download'),
      proof.getByRole('button', { name: 'Save evidence' }).click(),
    ])
    const file = join(t.testdir(), 'evidence.txt')
    await download.saveAs(file)
    t.match(await readFile(file, 'utf8'), older.trim())
    await checkLooks(t, page, 'history-failed')

    await page.unroute(/audit\/checkpoint/)
    await proof.getByText('What is verified').click()
    await proof.getByRole('button', { name: 'Forget the checkpoint' }).click()
    await page.getByRole('alertdialog').getByRole('button', { name: 'Forget' }).click()
    await proof.getByText('Not verified', { exact: true }).waitFor()
    await proof.getByRole('button', { name: 'Verify' }).first().click()
    await proof.getByText('Signature verified').waitFor()
  })

  await t.test('says so where the events cannot be read', async (t) => {
    const { page } = await open('/people')
    const body = JSON.stringify({ error: { message: 'Out of order', type: 'x', code: 'x' } })
    await page.route(/audit\/events/, (route) =>
      route.fulfill({ status: 400, contentType: 'application/json', body }),
    )
    await page.getByRole('link', { name: 'History' }).click()
    await page.getByRole('alert').getByText('Out of order').waitFor()
    await page.unroute(/audit\/events/)
    await page.getByRole('button', { name: 'Try again' }).click()
    await page.getByText('RunCompleted').first().waitFor()
    t.pass('and can be tried again')
  })

  await t.test('is accessible in every width and scheme', async (t) => {
    const { page } = await open('/history')
    for (const [path, name] of [
      ['/history', 'history'],
      ['/history?tab=states&view=agents', 'history-states'],
      ['/history?tab=differences&view=agents', 'history-differences'],
      ['/history?tab=export', 'history-export'],
    ] as const) {
      await page.goto(`${url}/console${path}`)
      await proofOf(page)
        .getByText(/verified/)
        .first()
        .waitFor()
      await settled(page)
      await checkLooks(t, page, name)
    }
  })
})
