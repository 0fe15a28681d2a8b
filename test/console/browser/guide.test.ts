import { existsSync, readdirSync, readFileSync } from 'node:fs'
import type { Page } from 'playwright-core'
import t from 'tap'
import { needsConsole, settled, startConsole } from '../../support/console-screens.ts'

const guide = 'docs/guides/console.md'
const images = 'docs/guides/images'
const isUpdate = process.env.UPDATE_DOCS === '1'

t.setTimeout(240_000)

/** Sections of the guide: their heading, image and labels in bold. */
const sections = readFileSync(guide, 'utf8')
  .split(/^## /m)
  .slice(1)
  .map((section) => ({
    title: section.slice(0, section.indexOf('\n')),
    image: /\(images\/(.+?)\.png\)/.exec(section)?.[1] ?? '',
    labels: [...section.matchAll(/\*\*(.+?)\*\*/g)].map(([, label = '']) => label),
  }))

const paths: Readonly<Record<string, string>> = {
  overview: '/',
  playground: '/playground?session=guide',
}

/** Width and height of a PNG, from its first chunk. */
const sizeOf = (png: Buffer): readonly [number, number] => [
  png.readUInt32BE(16),
  png.readUInt32BE(20),
]

/** A chat with the orchestrator, and an agent below it. */
const populate = async ({ url, key }: { url: string; key: string }) => {
  for (const content of ['Hello, what can you do?', 'How long may I return an item?']) {
    const reply = await fetch(`${url}/api/external/v1/chat/completions`, {
      method: 'POST',
      headers: { 'x-api-key': key, 'content-type': 'application/json' },
      body: JSON.stringify({ session_id: 'guide', messages: [{ role: 'user', content }] }),
    })
    if (!reply.ok) throw new Error(`the chat was answered ${reply.status}`)
  }
}

/** Waits for a label, which may also be the name of a button or a tab. */
const waitForLabel = (page: Page, label: string) =>
  page.getByText(label).or(page.getByLabel(label)).first().waitFor()

t.test('each section of the guide shows its screen, as it is today', needsConsole, async (t) => {
  const server = await startConsole(t)
  await populate(server)
  const { page } = await server.page('/', { viewport: { width: 1280, height: 800 } })
  for (const { title, image, labels } of sections) {
    if (image === 'run') {
      await page.goto(`${server.url}/console/runs`)
      await page.getByRole('row').nth(1).click()
    } else await page.goto(`${server.url}/console${paths[image] ?? `/${image}`}`)
    await page.locator('main#main h1').waitFor()
    await settled(page)
    if (image !== 'run') t.equal(await page.locator('main#main h1').innerText(), title, image)
    for (const label of labels) await waitForLabel(page, label)
    const file = `${images}/${image}.png`
    const png = await page.screenshot(isUpdate ? { path: file } : {})
    t.ok(existsSync(file), file)
    t.strictSame(sizeOf(png), sizeOf(readFileSync(file)), `${file} has the size of the screen`)
  }
})

t.test('every image belongs to a section of the guide', async (t) => {
  t.strictSame(
    readdirSync(images).toSorted(),
    sections.map(({ image }) => `${image}.png`).toSorted(),
  )
})
