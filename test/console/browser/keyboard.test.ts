import type { Locator, Page } from 'playwright-core'
import t from 'tap'
import { needsConsole } from '../../support/console-screens.ts'
import { startTour } from '../../support/console-tour.ts'

/** More than any screen has. */
const mostStops = 120

const isFocused = async (page: Page, target: Locator) =>
  (await target.and(page.locator(':focus')).count()) > 0

/** Goes to a control with the Tab key alone. */
const tabTo = async (page: Page, target: Locator): Promise<void> => {
  await target.waitFor()
  for (let count = 0; count < mostStops; count++) {
    if (await isFocused(page, target)) return
    await page.keyboard.press('Tab')
  }
  throw new Error(`the Tab key does not reach ${target}`)
}

const press = async (page: Page, target: Locator, ...keys: string[]): Promise<void> => {
  await tabTo(page, target)
  for (const key of keys) await page.keyboard.press(key)
}

const button = (page: Page, name: string | RegExp) =>
  page.getByRole('button', { name, exact: true })

/** The main action of each screen, by its name in the tour. */
const actions: Readonly<Record<string, (page: Page) => Promise<unknown>>> = {
  overview: async (page) => {
    await press(page, page.getByRole('radio', { name: '30 days' }), 'ArrowLeft')
    await page.waitForURL(/range=/)
  },
  runs: async (page) => {
    await press(page, page.getByRole('radio', { name: 'All' }), 'ArrowRight', 'Space')
    await page.waitForURL(/status=/)
    await press(page, button(page, 'Clear filters').first(), 'Enter')
    await press(page, page.getByRole('table').getByRole('link').first(), 'Enter')
    await page.waitForURL(/\/runs\/[\w-]+/)
  },
  run: async (page) => {
    await press(page, page.getByRole('tab', { name: 'Conversation' }), 'ArrowRight')
    await press(page, page.getByRole('treegrid'), 'ArrowDown')
    await page.waitForURL(/step=/)
  },
  playground: async (page) => {
    await tabTo(page, page.getByRole('textbox', { name: 'Message', exact: true }))
    await page.keyboard.type('When is the office open?')
    await page.keyboard.press('Enter')
    await page.getByRole('article').nth(3).waitFor()
    await page.getByText('The turn has ended').waitFor({ state: 'attached' })
  },
  agents: async (page) => {
    await press(page, page.getByRole('link', { name: 'New agent' }), 'Enter')
    await tabTo(page, page.getByRole('textbox', { name: 'Name' }))
    await page.keyboard.type('Typist')
    await press(page, button(page, 'Create agent'), 'Enter')
    await page.getByRole('heading', { level: 1, name: 'Typist' }).waitFor()
  },
  knowledge: async (page) => {
    await press(page, button(page, 'New DataStore'), 'Enter')
    await page.getByRole('dialog').waitFor()
    await page.keyboard.type('Letters')
    await page.keyboard.press('Enter')
    await page.getByRole('heading', { level: 1, name: 'Letters' }).waitFor()
  },
  content: async (page) => {
    await press(
      page,
      page.getByRole('list', { name: 'Content' }).getByRole('link').first(),
      'Enter',
    )
    await page.waitForURL(/\/content\/[\w-]+/)
  },
  approvals: async (page) => {
    await press(page, page.getByRole('radio', { name: 'For admins' }), 'ArrowRight')
    await press(page, page.getByRole('link', { name: 'remember' }), 'Enter')
    await press(page, button(page, 'Approve'), 'Enter')
    await press(
      page,
      page.getByRole('alertdialog').getByRole('button', { name: 'Approve' }),
      'Enter',
    )
    await page.locator('dl').getByText('Approved').waitFor()
  },
  people: async (page) => {
    await press(page, button(page, 'Invite'), 'Enter')
    await page.getByRole('dialog').waitFor()
    await page.keyboard.type('kim@example.com')
    await page.keyboard.press('Enter')
    await page.getByRole('row', { name: /kim/ }).waitFor()
  },
  history: async (page) => {
    await tabTo(page, page.getByLabel('Type'))
    await page.keyboard.type('OrganizationCreated')
    await page.keyboard.press('Enter')
    await page.waitForURL(/type=OrganizationCreated/)
    await press(page, page.locator('summary', { hasText: 'OrganizationCreated' }), 'Enter')
    await press(page, button(page, 'Verify this event'), 'Enter')
    await page.getByText('Event verified', { exact: true }).waitFor()
  },
  feeds: async (page) => {
    await press(page, page.getByRole('table').getByRole('link').first(), 'Enter')
    await page.waitForURL(/\/feeds\/\w+/)
  },
}

/** Buttons that open a dialog; of a menu, its item. */
const dialogs: readonly (readonly [stop: string, opener: string, item?: string])[] = [
  ['run', 'More actions of the run', 'Erase conversation…'],
  ['playground', 'Code'],
  ['agent', 'More actions', 'Delete…'],
  ['agent', 'Add HTTP call'],
  ['knowledge', 'New DataStore'],
  ['datastore', 'Actions', 'Delete DataStore'],
  ['people', 'Invite'],
  ['people', 'Actions for Ann', 'Remove invitation'],
  ['people-keys', 'Create key'],
]

t.test('by keyboard alone', needsConsole, async (t) => {
  const tour = await startTour(t)
  const stopNamed = (name: string) => {
    const stop = tour.stops.find((each) => each.name === name)
    if (!stop) throw new Error(`the tour has no ${name}`)
    return stop
  }

  for (const [name, act] of Object.entries(actions))
    await t.test(`does the main action of ${name}`, async (t) => {
      const page = await tour.page()
      await tour.arrive(page, stopNamed(name))
      await page.locator('main#main').focus()
      await act(page)
      t.pass()
    })

  for (const [name, opener, item] of dialogs)
    await t.test(`closes the dialog of ${item ?? opener}, and is where it was`, async (t) => {
      const page = await tour.page()
      await tour.arrive(page, stopNamed(name))
      const trigger = button(page, opener)
      await page.locator('main#main').focus()
      await press(page, trigger, 'Enter')
      if (item) {
        const action = page.getByRole('menuitem', { name: item })
        await action.waitFor()
        for (let count = 0; count < 20 && !(await isFocused(page, action)); count++)
          await page.keyboard.press('ArrowDown')
        await page.keyboard.press('Enter')
      }
      const dialog = page.getByRole('dialog').or(page.getByRole('alertdialog'))
      await dialog.waitFor()
      for (let count = 0; count < 12; count++) {
        await page.keyboard.press('Tab')
        t.equal(await dialog.locator(':focus').count(), 1, 'the focus stays in the dialog')
      }
      await page.keyboard.press('Escape')
      await dialog.waitFor({ state: 'detached' })
      await trigger.and(page.locator(':focus')).waitFor()
    })
})
