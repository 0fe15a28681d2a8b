import t from 'tap'
import { v4 as uuid } from 'uuid'
import { scopes } from '../../../src/domain/api-key/scopes.ts'
import type { RecordedEvent } from '../../../src/ports/event-store.ts'
import { screenshot } from '../../support/browser.ts'
import { client, user } from '../../support/client.ts'
import { needsConsole, openConsole } from '../../support/console-screens.ts'
import { allEvents, withLog } from '../../support/planting.ts'
import { providerDouble } from '../../support/provider-double.ts'
import { startServer } from '../../support/server.ts'

const count = 2_000
/** Events of one append, which is limited in bytes. */
const appendSize = 500

/** Further calls of tools like a recorded one, at places of their own. */
const callsLike = (pair: readonly RecordedEvent[], agents: number) =>
  Array.from({ length: count }, (_, index) =>
    pair.map(({ type, data, metadata }) => ({
      id: uuid(),
      type,
      metadata,
      data: {
        ...(data as object),
        toolId: `call-${index}`,
        tool: `lookup_${index}`,
        at: `0/${2 + (index % agents)}/${index}`,
      },
    })),
  ).flat()

t.test('a run of 2,000 steps renders only the rows in view', needsConsole, async (t) => {
  const provider = await providerDouble({ text: 'Done.' })
  t.teardown(provider.close)
  const server = await startServer(t, { LLM_BASE_URL: provider.url, LLM_MODEL: 'test/model' })
  const { organizationId } = await server.platform.organization()
  const { key } = await server.platform.ask('POST', `/organizations/${organizationId}/api-keys`, {
    name: 'Console',
    scopes,
    rate_limit_minute: 1_000,
  })
  provider.next({ calls: [{ name: 'recall', arguments: {} }] })
  const answer = await client(server.url, key).chat({ session_id: 'large', messages: user('Hi') })
  const runId = answer.body.id.replace('chatcmpl-', '')
  await server.stop()
  await withLog({ DATA_DIR: server.path }, async (store) => {
    const events = await allEvents(store)
    const pair = events.filter(({ type }) => type === 'ToolStarted' || type === 'ToolCompleted')
    const [first] = pair
    if (!first) throw new Error('no tool was called')
    const calls = callsLike(pair, 7)
    for (let at = 0; at < calls.length; at += appendSize)
      await store.append(first.stream, 'any', calls.slice(at, at + appendSize))
  })
  await server.restart()

  const open = await openConsole(t, { url: server.url, key })
  const { page, visit } = await open('/feeds')
  let requests = 0
  page.on('request', (request) => {
    if (request.url().includes(`/runs/${runId}`)) requests++
  })
  const started = performance.now()
  await visit(`/runs/${runId}?tab=steps`)
  const rows = page.getByRole('treegrid').getByRole('row')
  await rows.nth(5).waitFor()
  t.comment(`the first steps are there after ${Math.round(performance.now() - started)} ms`)
  await page.getByRole('tab', { name: /Steps \(2,00\d\)/ }).waitFor()
  t.comment(`all steps are there after ${Math.round(performance.now() - started)} ms`)
  t.equal(requests, 5, '500 steps a request')
  const grid = page.getByRole('treegrid')
  t.equal(Number(await grid.getAttribute('aria-rowcount')) > count, true)
  t.ok((await rows.count()) < 80)
  await grid.focus()
  await page.keyboard.press('End')
  await page.waitForURL(/step=/)
  t.ok((await rows.count()) < 80)
  t.ok(await grid.getAttribute('aria-activedescendant'))
  await page.getByLabel('Search in this run').fill('lookup_1999')
  await page
    .getByText('1 steps')
    .or(page.getByText('1 step', { exact: true }))
    .waitFor()
  await page.getByRole('row', { name: /lookup_1999/ }).waitFor()
  await screenshot(page, 'console-run-2000-steps')
})
