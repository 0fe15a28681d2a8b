import { build } from 'esbuild'
import t from 'tap'
import { browser, needsChromium } from '../../support/browser.ts'
import { withOrganization } from '../../support/partner.ts'
import { superAdminKey } from '../../support/platform.ts'
import { startApp } from '../../support/server.ts'

const onlyFull = process.env.TESTS === 'full' ? needsChromium : { skip: 'TESTS=full runs it' }

/** The module as one script, which sets the global `proof`. */
const script = async (): Promise<string> => {
  const names = ['log-verifier', 'proof-badge']
  const contents = names.map((name) => `export * from './${name}.ts'`).join('\n')
  const { outputFiles } = await build({
    stdin: { contents, resolveDir: 'console/src/proof', loader: 'ts' },
    bundle: true,
    format: 'iife',
    globalName: 'proof',
    write: false,
  })
  return outputFiles[0]?.text ?? ''
}

/** Three visits to a log, the last to a server that changes an event; runs in the browser. */
const visits = (at: string, origin: string) => `(async () => {
  const headers = { 'x-api-key': '${superAdminKey}' }
  const honest = (url, init) => fetch(url, { ...init, headers })
  const dishonest = async (url, init) => {
    const reply = await honest(url, init)
    const text = url.includes('export') ? (await reply.text()).replace('Acme', 'Acne') : undefined
    return text === undefined ? reply : new Response(text)
  }
  const { events } = await (await honest('${at}/events?limit=500')).json()
  const shown = events.find(({ type }) => type === 'OrganizationCreated')
  const visit = (fetch) =>
    proof.logVerifier({ origin: '${origin}', at: '${at}', fetch, memory: localStorage })
  return [
    await visit(honest).verifyLog(),
    await visit(honest).verifyEvent(shown),
    await visit(dishonest).verifyEvent(shown),
  ].map(proof.badgeOf)
})()`

t.test('Chromium verifies a history, and detects a changed event', onlyFull, async (t) => {
  const server = await startApp(t)
  const { at, organization_id } = await withOrganization(server)
  const { page: open } = await browser(t)
  const { page } = await open()
  await page.goto(`${server.url}/health/live`)
  await page.evaluate(await script())
  const badges = await page.evaluate(visits(`${at}/audit`, `reprise/${organization_id}`))
  t.match(badges, [
    { state: 'verified', label: 'Signature verified' },
    { state: 'verified', label: 'Event verified' },
    { state: 'failed', text: /was altered: it is not the one that was signed/ },
  ])
})
