import type { Page } from 'playwright-core'
import t from 'tap'
import { focused, screenshot } from '../../support/browser.ts'
import { client } from '../../support/client.ts'
import { axeFindings, needsConsole, startConsole } from '../../support/console-screens.ts'
import { eventually } from '../../support/eventually.ts'
import { json, web } from '../../support/web.ts'

const save = async (page: Page): Promise<void> => {
  await page.getByRole('button', { name: 'Save' }).click()
  await page.getByText('No unsaved changes').waitFor()
}

t.test('the agents', needsConsole, async (t) => {
  const shop = await web(t, ({ body }, response) => json(response, { refunded: JSON.parse(body) }))
  const {
    page: open,
    key,
    organizationId,
    url,
  } = await startConsole(t, {
    API_CALL_ALLOW_HOSTS: shop.host,
  })
  const api = client(url, key)
  const agents = `/api/admin/organizations/${organizationId}/agents`
  const named = async (name: string) => {
    const { body } = await api.ask('GET', agents)
    return body.agents.find((agent: { name: string }) => agent.name === name)
  }

  await t.test('shows who runs whom, and leads to each', async (t) => {
    const { page } = await open('/agents')
    const team = page.getByRole('list', { name: 'Team' })
    await team.getByRole('link').first().waitFor()
    t.strictSame(await team.getByRole('link').allInnerTexts(), [
      'Orchestrator',
      'Librarian',
      'Studio',
      'Concierge',
    ])
    t.equal(await team.locator('ul').getByRole('link').count(), 3, 'as a tree')
    await team.getByRole('link', { name: 'Studio' }).click()
    await page.getByRole('heading', { level: 1, name: 'Studio' }).waitFor()
  })

  await t.test('journey: connect a tool that needs approval, and approve it', async (t) => {
    const { page } = await open('/agents')
    await page.getByRole('link', { name: 'New agent' }).click()
    await page.getByRole('textbox', { name: 'Name' }).fill('Cashier')
    await page.getByRole('textbox', { name: 'Description' }).fill('Pays money back for orders')
    await page.getByRole('button', { name: 'Add HTTP call' }).click()
    const dialog = page.getByRole('dialog', { name: 'Add HTTP call' })
    await dialog.getByLabel('Name', { exact: true }).fill('refund order')
    await dialog.getByText('1 to 64 letters, digits, _ and -').waitFor()
    await dialog.getByLabel('Name', { exact: true }).fill('refund')
    await dialog.getByRole('button', { name: /Method/ }).click()
    await page.getByRole('option', { name: 'POST' }).click()
    await dialog.getByLabel('Address').fill(`${shop.url}/refunds`)
    await dialog.getByText('Calls need approval').click()
    await dialog.getByLabel('Denied after (seconds)').waitFor()
    t.strictSame(await axeFindings(page), [])
    await screenshot(page, 'console-agent-call')
    await dialog.getByRole('button', { name: 'Add', exact: true }).click()
    await page.getByText('Needs approval').waitFor()
    await page.getByRole('button', { name: 'Create agent' }).click()
    await page.getByRole('heading', { level: 1, name: 'Cashier' }).waitFor()

    await page.getByRole('link', { name: 'Open in playground' }).click()
    await page.getByRole('textbox', { name: 'Message', exact: true }).fill('refund order=A-1')
    await page.keyboard.press('Enter')
    const approval = page.getByRole('region', { name: 'Approval of refund' })
    await approval.getByText('"order": "A-1"').waitFor()
    t.equal(shop.requests.length, 0, 'nothing is called before')
    await approval.getByRole('button', { name: 'Approve' }).click()
    await page.getByText('The turn has ended').waitFor({ state: 'attached' })
    await page.getByText('refunded').first().waitFor()
    t.match(
      shop.requests.map(({ method, url: path, body }) => [method, path, JSON.parse(body)]),
      [['POST', '/refunds', { order: 'A-1' }]],
    )
    t.strictSame(await axeFindings(page), [])
    await screenshot(page, 'console-journey-approved')
  })

  await t.test(
    'checks settings while they are typed, and shows refusals at their field',
    async (t) => {
      const { agent_id } = await named('Studio')
      const { page } = await open(`/agents/${agent_id}`)
      const temperature = page.getByRole('textbox', { name: 'Temperature' })
      await temperature.fill('3')
      await page.getByText('A number from 0 to 2, or nothing').waitFor()
      await temperature.fill('0.4')
      await page.getByText('A number from 0 to 2, or nothing').waitFor({ state: 'detached' })
      await page.getByRole('combobox', { name: 'Model' }).fill('nobody/model')
      await page.getByRole('button', { name: 'Save' }).click()
      await page.locator('[role=combobox][aria-invalid=true]').waitFor()
      await page
        .getByText(/offline\/extractive/)
        .last()
        .waitFor()
      t.strictSame(await axeFindings(page), [])
      await screenshot(page, 'console-agent-refused')
      await page.getByRole('combobox', { name: 'Model' }).fill('')
      await page.keyboard.press('Tab')
      await save(page)
      t.match(await named('Studio'), { temperature: 0.4, model: null })
    },
  )

  await t.test('suggests the models that the platform names', async (t) => {
    const { agent_id } = await named('Studio')
    const { page } = await open(`/agents/${agent_id}`)
    const model = page.getByRole('combobox', { name: 'Model' })
    await page.getByText('now offline/extractive').waitFor()
    await model.fill('offline')
    await page.getByRole('option', { name: /offline\/extractive/ }).click()
    const selected = async () => (await model.inputValue()) === 'offline/extractive'
    t.ok(await eventually(selected))
  })

  await t.test('tries a draft without saving it', async (t) => {
    const { agent_id } = await named('Studio')
    const before = await named('Studio')
    const { page } = await open(`/agents/${agent_id}`)
    await page.getByRole('textbox', { name: 'Name' }).fill('Draft studio')
    await page.getByRole('button', { name: 'Try' }).click()
    const dialog = page.getByRole('dialog', { name: 'Try the draft' })
    t.ok(await dialog.getByRole('button', { name: 'Send' }).isDisabled())
    const ask = async (message: string) => {
      await dialog.getByLabel('Message').fill(message)
      await dialog.getByRole('button', { name: 'Send' }).click()
    }
    const exchanges = dialog.getByRole('list', { name: 'Conversation' }).locator('> li')
    await ask('Hello there')
    await exchanges.nth(0).getByRole('link', { name: 'Run' }).waitFor()
    await ask('And again')
    await exchanges.nth(1).getByRole('link', { name: 'Run' }).waitFor()
    t.match(await exchanges.nth(0).innerText(), /^Hello there/)
    t.strictSame(await axeFindings(page), [])
    await screenshot(page, 'console-agent-draft')
    t.strictSame(await named('Studio'), before)
    const { body } = await api.ask('GET', `/api/admin/organizations/${organizationId}/runs?limit=2`)
    t.match(body.runs, [
      { draft: true, agent_name: 'Draft studio' },
      { draft: true, session_id: body.runs[0].session_id },
    ])
    await dialog.getByRole('button', { name: 'Close' }).click()
    await page.getByText('1 unsaved change').waitFor()
    await page.getByRole('button', { name: 'Discard' }).click()
    await page.goto(`${url}/console/runs/${body.runs[0].run_id}`)
    await page.getByText('Draft', { exact: true }).first().waitFor()
  })

  await t.test('describes a credential for the people who connect it', async (t) => {
    const { agent_id } = await named('Studio')
    const { page } = await open(`/agents/${agent_id}`)
    await page.getByRole('button', { name: 'Add credential' }).click()
    const dialog = page.getByRole('dialog', { name: 'Add credential' })
    await dialog.getByLabel('Name', { exact: true }).fill('shop')
    await dialog.getByText('Capitals, digits and _').waitFor()
    await dialog.getByLabel('Name', { exact: true }).fill('SHOP_TOKEN')
    await dialog.getByLabel('Label').fill('Shop token')
    await dialog.getByLabel('Help address').fill('https://shop.example/token')
    t.strictSame(await axeFindings(page), [])
    await screenshot(page, 'console-agent-credential')
    await dialog.getByRole('button', { name: 'Add', exact: true }).click()
    await page.getByText('1 unsaved change').waitFor()
    await save(page)
    t.match(await named('Studio'), {
      credentials: [
        { name: 'SHOP_TOKEN', label: 'Shop token', help_url: 'https://shop.example/token' },
      ],
    })
    await page.getByRole('button', { name: 'Remove SHOP_TOKEN' }).click()
    await save(page)
    t.match(await named('Studio'), { credentials: [] })
  })

  await t.test('is opened, changed and saved by keyboard alone', async (t) => {
    const { page } = await open('/agents')
    await page.getByRole('list', { name: 'Team' }).getByRole('link').first().waitFor()
    await page.locator('main').focus()
    const tabTo = async (selector: string) => {
      for (let steps = 0; steps < 20; steps++) {
        await page.keyboard.press('Tab')
        if ((await page.locator(`${selector}:focus`).count()) > 0) return
      }
    }
    await tabTo('main a[href*="/agents/"]')
    await tabTo('main a[href*="/agents/"]')
    await tabTo('main a[href*="/agents/"]')
    t.match(await focused(page), { seen: false }, 'its row has the outline')
    await page.keyboard.press('Enter')
    await page.getByRole('heading', { level: 1, name: 'Librarian' }).waitFor()
    await page.getByRole('textbox', { name: 'Name' }).waitFor()
    await tabTo('main input')
    t.equal(await page.locator(':focus').inputValue(), 'Librarian')
    await page.keyboard.press('End')
    await page.keyboard.type(' 2')
    await page.keyboard.press('Enter')
    await page.getByText('Librarian 2 saved').waitFor()
    const { agent_id } = await named('Librarian 2')
    await api.ask('PATCH', `${agents}/${agent_id}`, { name: 'Librarian' })
  })

  await t.test('asks before unsaved changes are left behind', async (t) => {
    const { agent_id } = await named('Studio')
    const { page } = await open(`/agents/${agent_id}`)
    await page.getByRole('textbox', { name: 'Output key' }).fill('picture')
    await page.getByText('1 unsaved change').waitFor()
    await page.locator('main').getByRole('link', { name: 'Agents', exact: true }).click()
    const dialog = page.getByRole('alertdialog', { name: 'Leave without saving?' })
    t.strictSame(await axeFindings(page), [])
    await dialog.getByRole('button', { name: 'Stay' }).click()
    await dialog.waitFor({ state: 'detached' })
    await page.getByRole('button', { name: 'Discard' }).click()
    await page.getByText('No unsaved changes').waitFor()
    t.equal(await page.getByRole('textbox', { name: 'Output key' }).inputValue(), '')
  })

  await t.test('changes the team, and offers no agent that would run itself', async (t) => {
    const { agent_id } = await named('Librarian')
    const { page } = await open(`/agents/${agent_id}`)
    await page.getByRole('button', { name: /Add a sub-agent/ }).click()
    const options = await page.getByRole('option').allInnerTexts()
    t.notOk(
      options.some((words) => /^(Orchestrator|Librarian)/.test(words)),
      options.join(),
    )
    await page.getByRole('option', { name: /Cashier/ }).click()
    await save(page)
    const cashier = await named('Cashier')
    t.strictSame((await named('Librarian')).sub_agents, [cashier.agent_id])
  })

  await t.test('lists each change with its difference, and restores a version', async (t) => {
    const { agent_id } = await named('Concierge')
    const path = `${agents}/${agent_id}`
    await api.ask('PATCH', path, { instruction: 'Be brief.' })
    await api.ask('PATCH', path, { instruction: 'Be long.', temperature: 1 })
    const { page } = await open(`/agents/${agent_id}?tab=history`)
    const brief = page.getByRole('button', { name: /^Instruction by Demo Owner/ })
    await brief.click()
    await page.waitForURL(/change=\d+/)
    await page.getByText('Be brief.').waitFor()
    await page.reload()
    await page.getByText('Be brief.').waitFor()
    t.strictSame(await axeFindings(page), [])
    await page.getByRole('button', { name: 'Restore this version…' }).click()
    const dialog = page.getByRole('alertdialog', { name: 'Restore this version?' })
    await dialog.getByText('Be long.').waitFor()
    t.strictSame(await axeFindings(page), [])
    await screenshot(page, 'console-agent-restore')
    await dialog.getByRole('button', { name: 'Restore', exact: true }).click()
    await page.getByText('Version restored').waitFor()
    t.match(await named('Concierge'), { instruction: 'Be brief.', temperature: null })
    const changes = page.getByRole('button', { name: /by Demo Owner/ })
    await changes.nth(2).waitFor()
    t.equal(await changes.count(), 3, 'a change like any other')
  })

  await t.test('deletes an agent that nobody runs, once its name is typed', async (t) => {
    await api.ask('POST', agents, { name: 'Spare' })
    const { agent_id } = await named('Spare')
    const { page } = await open(`/agents/${agent_id}`)
    await page.getByRole('button', { name: 'More actions' }).click()
    await page.getByRole('menuitem', { name: 'Delete…' }).click()
    const dialog = page.getByRole('alertdialog', { name: 'Delete Spare?' })
    t.ok(await dialog.getByRole('button', { name: 'Delete' }).isDisabled())
    await dialog.getByLabel('Type Spare to confirm').fill('Spare')
    await dialog.getByRole('button', { name: 'Delete' }).click()
    await page.waitForURL(`${url}/console/agents`)
    t.equal(await named('Spare'), undefined)
  })

  await t.test('says why an agent cannot be deleted, or is not there', async () => {
    const { agent_id } = await named('Studio')
    const { page } = await open(`/agents/${agent_id}`)
    await page.getByRole('button', { name: 'More actions' }).click()
    await page.getByRole('menuitem', { name: 'Delete…' }).click()
    const dialog = page.getByRole('alertdialog')
    await dialog.getByLabel('Type Studio to confirm').fill('Studio')
    await dialog.getByRole('button', { name: 'Delete' }).click()
    await dialog.getByRole('alert').waitFor()
    await page.goto(`${url}/console/agents/0198c1de-0000-7000-8000-000000000000`)
    await page.getByText('agent_not_found').waitFor()
  })

  await t.test('shows a key without admin:read only what the public list has', async (t) => {
    const { body } = await api.ask('POST', `/api/admin/organizations/${organizationId}/api-keys`, {
      name: 'reader',
      scopes: ['agents:list'],
    })
    const { page } = await open('/agents', undefined, body.key)
    await page.getByRole('table', { name: 'Agents' }).getByText('Librarian').waitFor()
    t.equal(await page.getByRole('link', { name: 'New agent' }).count(), 0)
    await page.goto(`${url}/console/agents/new`)
    await page.getByText('admin:write').waitFor()
  })
})
