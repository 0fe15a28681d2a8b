import t from 'tap'
import { browser, screenshot } from '../../support/browser.ts'
import { needsConsole } from '../../support/console-screens.ts'
import { longName, rightToLeftName, startTour } from '../../support/console-tour.ts'
import { keyboardFindings, layoutFindings } from '../../support/page-findings.ts'

/** A window of 1,440 by 900 pixels at a zoom of 200 % has half of them, each twice as large. */
const windows = {
  phone: { viewport: { width: 360, height: 740 } },
  zoomed: { viewport: { width: 720, height: 450 }, deviceScaleFactor: 2 },
} as const

t.setTimeout(300_000)

const flawed = `<!doctype html><main id="main" tabindex="-1" style="width: 100px">
  <button id="first" style="outline: 2px solid">One</button>
  <button id="unseen" style="outline: none">Two</button>
  <button id="skipped" tabindex="-1">Three</button>
  <div style="cursor: pointer">Four</div>
  <button style="position: absolute; left: 2000px; outline: 2px solid">Five</button>
  <p style="width: 40px; overflow: hidden; white-space: nowrap">A text that is cut off</p>
  <p style="width: 40px; overflow: hidden; white-space: nowrap; text-overflow: ellipsis">Another text</p>
  <button style="outline: 2px solid">Six</button><button style="margin-left: -20px; outline: 2px solid">Seven</button>
</main>`

t.test('flaws of a page are found', needsConsole, async (t) => {
  const { page: open } = await browser(t)
  const { page } = await open()
  await page.setContent(flawed)
  t.strictSame(await keyboardFindings(page), [
    'by mouse only: div Four',
    'focus not visible: button Two',
    'not reached: button Three',
  ])
  t.match(await layoutFindings(page), [
    /^the page scrolls sideways/,
    'outside: button Five',
    'overlap: button Six / button Seven',
    'cut off: p A text that is cut off',
    'cut without the whole in a title: p Another text',
  ])
})

t.test('every screen', needsConsole, async (t) => {
  const tour = await startTour(t)

  await t.test('is reached as a whole by the Tab key, which also leaves it', async (t) => {
    const page = await tour.page()
    for (const stop of tour.stops) {
      await tour.arrive(page, stop)
      t.strictSame(await keyboardFindings(page), [], stop.name)
    }
  })

  for (const [name, options] of Object.entries(windows))
    await t.test(`fits a window that is ${name}`, async (t) => {
      const page = await tour.page(options)
      for (const stop of tour.stops) {
        await tour.arrive(page, stop)
        t.strictSame(await layoutFindings(page), [], stop.name)
        await screenshot(page, `console-${name}-${stop.name}`)
      }
    })

  await t.test('shows names of 200 characters, and from right to left', async (t) => {
    await tour.rename(longName, rightToLeftName)
    for (const [name, options] of Object.entries({ ...windows, desktop: undefined })) {
      const page = await tour.page(options)
      for (const stop of tour.stops) {
        await tour.arrive(page, stop)
        t.strictSame(await layoutFindings(page), [], `${name}: ${stop.name}`)
        await screenshot(page, `console-names-${name}-${stop.name}`)
      }
    }
  })
})
