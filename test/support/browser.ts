import { spawnSync } from 'node:child_process'
import { mkdirSync } from 'node:fs'
import { delimiter, join } from 'node:path'
import { setTimeout as after } from 'node:timers/promises'
import { type Browser, type BrowserContextOptions, chromium, type Page } from 'playwright-core'
import file, { type Test } from 'tap'

const names = ['chromium', 'chromium-browser', 'google-chrome']

/** Also not what some distributions put in its place, which asks to install another package. */
const runs = (path: string): boolean => spawnSync(path, ['--version']).status === 0

const { CHROMIUM_PATH, PATH = '', SCREENSHOTS_DIR } = process.env

const executablePath =
  CHROMIUM_PATH ||
  PATH.split(delimiter)
    .flatMap((folder) => names.map((name) => join(folder, name)))
    .find(runs)

/** Options of tests that need a browser: without one they are skipped, and say so. */
export const needsChromium = executablePath
  ? {}
  : { skip: `none of ${names.join(', ')} in PATH runs, and CHROMIUM_PATH is not set` }

/** A Chromium has this long to end. */
const closeMs = 15_000

/** The Chromium of a file's tests: a start takes seconds. */
let launched: Promise<Browser> | undefined

const launch = (): Promise<Browser> => {
  file.teardown(async () => {
    const started = await launched?.catch(() => undefined)
    // The next file of this process begins with one of its own, also after a failed launch.
    launched = undefined
    // One that does not end would keep its file, and all that come after it, waiting.
    await Promise.race([started?.close(), after(closeMs, undefined, { ref: false })])
  })
  // Its sandbox needs what neither root nor most containers have; all it opens is our own.
  return chromium.launch({
    executablePath: executablePath ?? '',
    args: ['--no-sandbox', '--disable-dev-shm-usage'],
    timeout: 60_000,
  })
}

/** A Chromium, whose pages each have a profile of their own; they are gone when the test ends. */
export const browser = async (t: Test) => {
  launched ??= launch()
  const own = await launched
  return {
    /** A page in a context of its own, and what it had to complain about. */
    async page(options: BrowserContextOptions = {}) {
      const context = await own.newContext(options)
      t.teardown(() => context.close())
      const page = await context.newPage()
      const complaints: string[] = []
      page.on('pageerror', (error) => complaints.push(error.message))
      page.on('console', (message) => complaints.push(message.text()))
      return { context, page, complaints }
    },
  }
}

/**
 * Sends a form and waits for the document that it leads to; the status that it was answered with.
 */
export const sends = async (page: Page, act: () => Promise<void>): Promise<number> => {
  const posted = page.waitForResponse((reply) => reply.request().method() === 'POST')
  const [reply] = await Promise.all([posted, page.waitForEvent('load'), act()])
  return reply.status()
}

/** Kept where SCREENSHOTS_DIR is set. */
export const screenshot = async (page: Page, name: string): Promise<void> => {
  if (!SCREENSHOTS_DIR) return
  mkdirSync(SCREENSHOTS_DIR, { recursive: true })
  await page.screenshot({ path: join(SCREENSHOTS_DIR, `${name}.png`), fullPage: true })
}

/** Whether all is within the width of the window. */
export const fitsWidth = (page: Page): Promise<boolean> =>
  page.evaluate('document.documentElement.scrollWidth <= document.documentElement.clientWidth')

export type Heard = { role: string; name: string; description: string; invalid: boolean }

const heard = ['heading', 'status', 'alert', 'textbox', 'button', 'link', 'main']

/** What assistive technology is told, in reading order: Chromium's own accessibility tree. */
export const hears = async (page: Page): Promise<Heard[]> => {
  const session = await page.context().newCDPSession(page)
  const { nodes } = await session.send('Accessibility.getFullAXTree')
  await session.detach()
  const byId = new Map(nodes.map((node) => [node.nodeId, node]))
  const descendantsOf = (id: string | undefined): typeof nodes => {
    const node = id && byId.get(id)
    return node ? [node, ...(node.childIds ?? []).flatMap(descendantsOf)] : []
  }
  return descendantsOf(nodes[0]?.nodeId)
    .filter(({ ignored, role }) => !ignored && heard.includes(role?.value))
    .map(({ role, name, description, properties = [] }) => ({
      role: role?.value,
      name: name?.value ?? '',
      description: description?.value ?? '',
      invalid: properties.some(
        (property) => property.name === 'invalid' && property.value.value === 'true',
      ),
    }))
}

/** What has the focus, and whether that can be seen. */
export const focused = (page: Page): Promise<{ what: string; seen: boolean }> =>
  page.evaluate(`(() => {
    const { id, tagName } = document.activeElement
    const { outlineStyle, outlineWidth } = getComputedStyle(document.activeElement)
    return { what: id || tagName, seen: outlineStyle !== 'none' && parseFloat(outlineWidth) >= 2 }
  })()`)
