import t from 'tap'
import { screenshot } from '../../support/browser.ts'
import { client } from '../../support/client.ts'
import { checkLooks, desktop, needsConsole, startConsole } from '../../support/console-screens.ts'
import { eventually } from '../../support/eventually.ts'
import { painterOf } from '../../support/studio.ts'

t.test('content', needsConsole, async (t) => {
  const { page: open, url, key, organizationId } = await startConsole(t)
  const admin = client(url, key)
  const at = `/api/admin/organizations/${organizationId}`
  const { agents } = (await admin.ask('GET', `${at}/agents`)).body
  const studio = agents.find(({ name }: { name: string }) => name === 'Studio')
  const painter = painterOf(admin, studio.agent_id)

  await t.test('says that there is none yet', async (t) => {
    const { page } = await open('/content')
    await page.getByText('No content yet').waitFor()
    t.pass()
  })

  const image = await painter.draw('Draw a picture of a fox')
  const sound = await painter.draw('Create a sound of rain')
  const model = await painter.draw('Create a 3D model of a chair')
  const video = await painter.draw('Create a video of a dog')
  for (const id of [image, sound, model, video]) await painter.over(id)

  await t.test('shows pictures, plays sounds and downloads 3D models', async (t) => {
    const { page, complaints } = await open('/content')
    const gallery = page.getByRole('list', { name: 'Content' })
    const picture = gallery.getByRole('img').first()
    await picture.waitFor()
    // Not waitForFunction: its page would evaluate a text, which the policy forbids.
    await eventually(() =>
      page.evaluate<boolean>('document.querySelector("main img").naturalWidth > 0'),
    )
    const player = await gallery.locator('audio').boundingBox()
    t.ok(player && player.width > 150, 'the player of a sound can be used')
    await gallery.getByRole('link', { name: 'chair' }).click()
    await page.getByRole('heading', { name: 'chair' }).waitFor()
    const [download] = await Promise.all([
      page.waitForEvent('download'),
      page.getByRole('link', { name: 'Download' }).click(),
    ])
    t.match(download.suggestedFilename(), /\.glb$/)
    t.strictSame(
      complaints.filter((line) => !line.includes('401')),
      [],
    )
  })

  await t.test('filters by type and status, in the address', async (t) => {
    const { page } = await open('/content')
    const items = page.getByRole('list', { name: 'Content' }).getByRole('listitem')
    await items.first().waitFor()
    t.equal(await items.count(), 4)
    await page.getByRole('button', { name: 'Status' }).click()
    await page.getByRole('option', { name: 'Failed' }).click()
    await page.waitForURL(/status=failed/)
    await page.reload()
    await items.first().waitFor()
    t.equal(await items.count(), 1)
  })

  await t.test('a failed item is retried', async (t) => {
    const { page } = await open(`/content/${video}`)
    await page.getByText('no video provider configured').waitFor()
    await screenshot(page, 'console-content-failed')
    await page.getByRole('button', { name: 'Retry' }).click()
    await page.getByText('Retry queued (attempt 1 of 3)').waitFor()
    await page.locator('dl').getByText('1 of 3').waitFor()
    t.equal((await painter.get(video)).retry_count, 1)
  })

  await t.test('without the scope to retry there is no such button', async (t) => {
    await painter.when(video, 'failed')
    const { key: narrow } = (
      await admin.ask('POST', `${at}/api-keys`, { name: 'Reader', scopes: ['content:read'] })
    ).body
    const { page } = await open(`/content/${video}`, desktop, narrow)
    await page.getByRole('alert').waitFor()
    t.match(await page.getByRole('alert').innerText(), /content_not_found/)
    t.equal(await page.getByRole('button', { name: 'Retry' }).count(), 0)
  })

  await t.test('content is accessible in every width and scheme', async (t) => {
    const { page } = await open('/content')
    for (const [path, name] of [
      ['/content', 'content'],
      [`/content/${image}`, 'content-item'],
    ] as const) {
      await page.goto(`${url}/console${path}`)
      await page.getByRole('img').first().waitFor()
      await checkLooks(t, page, name)
    }
  })
})
