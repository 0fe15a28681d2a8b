import { execFileSync, spawn, spawnSync } from 'node:child_process'
import t from 'tap'
import { browser, fitsWidth, needsChromium, screenshot } from '../support/browser.ts'
import { eventually } from '../support/eventually.ts'
import { exportsOf } from '../support/exports.ts'
import { blocksOf, freePort, guideFolder, scriptOf } from '../support/guides.ts'
import { startServer } from '../support/server.ts'

const guide = 'docs/guides/stream.md'
const noCurl = spawnSync('curl', ['--version']).status === 0 ? {} : { skip: 'no curl here' }

t.test('the page of the guide streams', { ...noCurl, ...needsChromium }, async (t) => {
  const port = await freePort()
  const origin = `http://127.0.0.1:${port}`
  const server = await startServer(t, { DEMO: 'on', CORS_ORIGINS: origin })
  const env = { PATH: process.env.PATH ?? '', ...(await exportsOf(server)) }
  const cwd = guideFolder(t)
  execFileSync('sh', ['-c', scriptOf(guide)], { env, cwd })
  const [serve = ''] = blocksOf(guide, 'bash')
  const serving = spawn('sh', ['-c', `exec ${serve.replace('8080', String(port))}`], { env, cwd })
  t.teardown(() => serving.kill('SIGKILL'))
  await eventually(() =>
    fetch(origin).then(
      ({ ok }) => ok,
      () => false,
    ),
  )
  const { page: open } = await browser(t)
  const { page, complaints } = await open()
  await page.goto(origin)
  complaints.splice(0)
  await page.getByLabel('Question').fill('How many days of leave are there?')
  await page.getByRole('button', { name: 'Ask' }).click()
  await page.getByText('answers').waitFor()
  await page.locator('#answer', { hasText: 'leave' }).waitFor()
  t.ok(await fitsWidth(page))
  t.strictSame(complaints, [])
  await screenshot(page, 'guide-page')
})
