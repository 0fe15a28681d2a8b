import type { Page } from 'playwright-core'

const composer = (page: Page) => page.getByRole('textbox', { name: 'Message', exact: true })

/** Types a message and sends it with Enter. */
export const ask = async (page: Page, text: string): Promise<void> => {
  await composer(page).fill(text)
  await page.keyboard.press('Enter')
}

/** Messages of agents. */
export const answers = (page: Page) => page.getByRole('article').filter({ hasNotText: /^You/ })

/** Waits until the turn is over, and its answer is stored. */
export const turnEnd = async (page: Page): Promise<void> => {
  await page.getByText('The turn has ended').waitFor({ state: 'attached' })
  await page.getByRole('button', { name: 'Send' }).waitFor()
}
