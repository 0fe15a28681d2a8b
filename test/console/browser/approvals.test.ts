import t from 'tap'
import { approvalScene } from '../../support/approval-scene.ts'
import { screenshot } from '../../support/browser.ts'
import {
  axeFindings,
  checkLooks,
  desktop,
  needsConsole,
  openConsole,
} from '../../support/console-screens.ts'
import { eventually } from '../../support/eventually.ts'

t.test('approvals', needsConsole, async (t) => {
  const scene = await approvalScene(t, { approver: 'admin' })
  const { server, organization, requestRefund, site } = scene
  const { url } = server
  const { key } = scene.key
  const open = await openConsole(t, { url, key })
  const scopes = ['approvals:read', 'admin:read']
  const reader = await organization.key({ type: 'user', user_id: organization.ownerId, scopes })

  await t.test('an approval is read with its conversation, and approved', async (t) => {
    const { page } = await open('/approvals')
    await page.getByText('Nothing waits for a decision').waitFor()
    await requestRefund('approve')
    await page.getByRole('link', { name: 'refund' }).click()
    await page.waitForURL(/\/approvals\/[\w-]+$/)
    await page.getByRole('heading', { name: 'refund' }).waitFor()
    await page.getByText('"order": "A-1"').waitFor()
    await page.getByRole('list', { name: 'Messages' }).getByText('Refund A-1').waitFor()
    await screenshot(page, 'console-approval')
    await page.getByRole('button', { name: 'Approve' }).click()
    const dialog = page.getByRole('alertdialog', { name: 'Approve refund?' })
    await dialog.waitFor()
    t.strictSame(await axeFindings(page), [])
    await dialog.getByRole('button', { name: 'Approve' }).click()
    await page.locator('dl').getByText('Approved').waitFor()
    t.equal(await page.getByRole('button', { name: 'Approve' }).count(), 0)
    await eventually(async () => site.requests.length > 0)
    t.equal(site.requests.length, 1)
  })

  await t.test('a call is denied with a reason', async (t) => {
    await requestRefund('deny')
    const { page } = await open('/approvals')
    await page.getByRole('link', { name: 'refund' }).click()
    await page.getByRole('button', { name: 'Deny' }).click()
    const dialog = page.getByRole('alertdialog', { name: 'Deny refund?' })
    await dialog.getByLabel('Reason').fill('Ask the warehouse first')
    await screenshot(page, 'console-approval-deny')
    await dialog.getByRole('button', { name: 'Deny' }).click()
    await page.locator('dl').getByText('Ask the warehouse first').waitFor()
    await page.getByRole('link', { name: 'Approvals' }).last().click()
    await page.getByRole('button', { name: 'Status' }).click()
    await page.getByRole('option', { name: 'Denied' }).click()
    await page.waitForURL(/status=denied/)
    await page.reload()
    await page.getByRole('link', { name: 'refund' }).waitFor()
    t.match(page.url(), /status=denied/)
  })

  await t.test('a decision that came too late says so', async (t) => {
    await requestRefund('late')
    const [waiting] = (await scene.list('?approver=admin&status=pending')).body.approvals
    const { page } = await open(`/approvals/${waiting.approval_id}`)
    await page.getByRole('button', { name: 'Approve' }).click()
    await scene.decide(waiting, 'deny')
    const dialog = page.getByRole('alertdialog')
    await dialog.getByRole('button', { name: 'Approve' }).click()
    t.match(await dialog.getByRole('alert').innerText(), /The run of the call has ended|decided/)
  })

  await t.test('an approval that is not there says so after one request', async (t) => {
    const { page } = await open('/approvals')
    const requests: string[] = []
    page.on('request', (request) => {
      const { pathname } = new URL(request.url())
      if (pathname.startsWith('/api/external/approvals')) requests.push(pathname)
    })
    await page.goto(`${url}/console/approvals/none`)
    await page.getByText('There is no such approval').waitFor()
    t.strictSame([...new Set(requests)], ['/api/external/approvals/none'])
  })

  await t.test('without the scopes, the screen names them', async (t) => {
    await requestRefund('narrow')
    const [waiting] = (await scene.list('?approver=admin&status=pending')).body.approvals
    const { page } = await open(`/approvals/${waiting.approval_id}`, desktop, reader.key)
    await page.getByText('Deciding needs the scope approvals:decide.').waitFor()
    await page.getByText('It needs the scope sessions:messages').waitFor()
    t.equal(await page.getByRole('button', { name: 'Approve' }).count(), 0)
    await screenshot(page, 'console-approval-forbidden')
  })

  await t.test('approvals are accessible in every width and scheme', async (t) => {
    const [waiting] = (await scene.list('?approver=admin&status=pending')).body.approvals
    const { page } = await open('/approvals')
    for (const [path, name] of [
      ['/approvals?status=all', 'approvals'],
      ['/approvals?tab=in_doubt', 'approvals-in-doubt'],
      [`/approvals/${waiting.approval_id}`, 'approval'],
    ] as const) {
      await page.goto(`${url}/console${path}`)
      await page.locator('main h1').waitFor()
      await checkLooks(t, page, name)
    }
  })
})
