import t from 'tap'
import { screenshot } from '../../support/browser.ts'
import { client } from '../../support/client.ts'
import { axeFindings, needsConsole, startConsole } from '../../support/console-screens.ts'
import { answers, ask, turnEnd } from '../../support/playground.ts'
import { providerDouble } from '../../support/provider-double.ts'

t.test('a turn of a slow model', needsConsole, async (t) => {
  const provider = await providerDouble({ text: 'Done.' })
  t.teardown(() => provider.close())
  const {
    page: open,
    key,
    url,
  } = await startConsole(t, {
    LLM_BASE_URL: provider.url,
    LLM_MODEL: 'test-model',
  })
  const api = client(url, key)

  await t.test('continues after a reload in mid-answer, without loss or repetition', async (t) => {
    let release = () => {}
    const until = new Promise<void>((resolve) => {
      release = resolve
    })
    provider.next({ text: 'One two three four five six.', hold: { after: 4, until } })
    const { page } = await open('/playground')
    await ask(page, 'Count to six')
    await page.getByText('One two three').waitFor()
    t.strictSame(await axeFindings(page), [])
    await screenshot(page, 'console-playground-running')
    await page.reload()
    await page.getByText('One two three').waitFor()
    await page.getByRole('button', { name: 'Stop' }).waitFor()
    release()
    await page.getByText('One two three four five six.', { exact: true }).waitFor()
    await turnEnd(page)
    t.equal(await page.getByRole('article').count(), 2)
  })

  await t.test('is stopped, and keeps the text so far', async (t) => {
    const never = new Promise<void>(() => {})
    provider.next({ text: 'One two three four.', hold: { after: 3, until: never } })
    const { page } = await open('/playground')
    await ask(page, 'Count')
    await page.getByText('One two').waitFor()
    await page.getByRole('button', { name: 'Stop' }).click()
    await page.getByText('Stopped', { exact: true }).waitFor()
    await turnEnd(page)
    const session = new URL(page.url()).searchParams.get('session') ?? ''
    t.match((await api.messages(session)).body.messages, [{}, { content: /^One two/ }])
    await ask(page, 'Go on')
    await page.getByText('Done.').waitFor()
  })

  await t.test('shows Markdown, and neither HTML nor scripts of a text', async (t) => {
    provider.next({
      text: [
        '**Bold** and `code`, <img src="/x" onerror="document.title=1"> and <b>tags</b>.',
        '[good](https://example.org/a) [bad](javascript:document.title=2)',
        '![far](https://example.org/pixel.png)',
        '',
        '| a | b |',
        '|---|---|',
        '| 1 | 2 |',
      ].join('\n'),
    })
    const { page } = await open('/playground')
    await ask(page, 'Markdown, please')
    await turnEnd(page)
    const answer = answers(page).last()
    t.equal(await answer.locator('strong', { hasText: 'Bold' }).count(), 1)
    t.equal(await answer.locator('img').count(), 0)
    t.match(await answer.innerText(), /<b>tags<\/b>/)
    t.strictSame(
      await page.evaluate(
        `[...document.querySelectorAll('main article a[target]')].map(({ href, rel }) => [href, rel])`,
      ),
      [
        ['https://example.org/a', 'noopener noreferrer'],
        ['https://example.org/pixel.png', 'noopener noreferrer'],
      ],
    )
    t.equal(await answer.getByRole('link', { name: 'bad' }).count(), 0)
    t.equal(await answer.getByRole('cell', { name: '2' }).count(), 1)
    t.equal(await page.title(), 'Playground · Reprise')
  })

  await t.test('fails with the words and the code of the server', async (t) => {
    provider.next({ status: 401 })
    const { page } = await open('/playground')
    await ask(page, 'Fail')
    await page.getByRole('alert').getByText('model_misconfigured').waitFor()
    await turnEnd(page)
    t.strictSame(await axeFindings(page), [])
    await screenshot(page, 'console-playground-failed')
  })
})
