import { spawnSync } from 'node:child_process'
import axe from 'axe-core'
import type { BrowserContextOptions, Page } from 'playwright-core'
import type { Test } from 'tap'
import { browser, fitsWidth, needsChromium, screenshot } from './browser.ts'
import { startDemo } from './demo.ts'

/** Options of tests of the console: only in the long form, and where a Chromium runs. */
export const needsConsole =
  process.env.TESTS === 'full' ? needsChromium : { skip: 'only with TESTS=full' }

/** Builds the console unless a test before has; what the build prints. */
export const buildConsole = (): string => {
  const { status, stdout, stderr } = spawnSync(
    process.execPath,
    ['console/build.mjs', '--if-stale'],
    {
      encoding: 'utf8',
    },
  )
  if (status !== 0) throw new Error(`the console could not be built:\n${stderr}`)
  return stdout
}

// A server looks for the console when it starts.
if (process.env.TESTS === 'full') buildConsole()

export const desktop = { viewport: { width: 1440, height: 900 } } as const

/** Signs in with a key in the form, and waits for the screen behind it. */
export const signIn = async (page: Page, key: string): Promise<void> => {
  await page.getByLabel('API key').fill(key)
  await page.getByRole('button', { name: 'Sign in', exact: true }).click()
  await page.locator('main#main h1').waitFor()
}

/**
 * The built console of a listening server, in a browser. `page` opens a path of the console, as
 * `/runs?status=failed`, signed in unless `key` is null.
 */
export const openConsole = async (t: Test, server: { url: string; key: string }) => {
  const { page: open } = await browser(t)
  return async (
    path = '/',
    options: BrowserContextOptions = desktop,
    key: string | null = server.key,
  ) => {
    const opened = await open({ reducedMotion: 'reduce', ...options })
    await opened.page.goto(`${server.url}/console${path}`)
    if (key !== null) await signIn(opened.page, key)
    /** Another address in the same page, as a link there would open it. */
    const visit = (next: string) =>
      opened.page.evaluate(
        `history.pushState(null, '', ${JSON.stringify(`/console${next}`)})
        dispatchEvent(new PopStateEvent('popstate'))`,
      )
    return { ...opened, visit }
  }
}

/** The console of a server with the demo organization. */
export const startConsole = async (t: Test, env: Record<string, string> = {}) => {
  const server = await startDemo(t, env)
  return { ...server, page: await openConsole(t, server) }
}

/** What axe has to object to on a page, by WCAG 2.2 AA and its own best practices. */
export const axeFindings = async (page: Page): Promise<string[]> => {
  await page.evaluate(axe.source)
  const violations: { id: string; nodes: { html: string; failureSummary?: string }[] }[] =
    await page.evaluate('axe.run().then(({ violations }) => violations)')
  return violations.flatMap(({ id, nodes }) =>
    nodes.map(({ html, failureSummary }) => `${id}: ${html.slice(0, 160)} ${failureSummary ?? ''}`),
  )
}

/** Waits until nothing of a page is loading. */
export const settled = async (page: Page): Promise<void> => {
  const busy = page.locator('[aria-busy=true]')
  while ((await busy.count()) > 0) await busy.first().waitFor({ state: 'detached' })
}

const widths = [360, 768, 1440]
const schemes = ['light', 'dark'] as const

/**
 * Checks a page in each width and color scheme: axe finds nothing, nothing is wider than the
 * window, and the screenshot `console-<name>-<width>-<scheme>` is taken. `act` comes before each.
 */
export const checkLooks = async (
  t: Test,
  page: Page,
  name: string,
  act: (width: number) => Promise<void> = async () => {},
): Promise<void> => {
  for (const width of widths)
    for (const colorScheme of schemes) {
      const look = `${name}-${width}-${colorScheme}`
      await page.setViewportSize({ width, height: width === 360 ? 740 : 900 })
      await page.emulateMedia({ colorScheme, reducedMotion: 'reduce' })
      await act(width)
      await settled(page)
      t.ok(await fitsWidth(page), look)
      t.strictSame(await axeFindings(page), [], look)
      await screenshot(page, `console-${look}`)
    }
}
