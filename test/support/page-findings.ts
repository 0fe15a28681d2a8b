import type { Page } from 'playwright-core'

/** Whatever a person presses, types in or chooses. Types of a page's own objects are not here. */
const controls = `a[href], button, input, textarea, select, summary, audio[controls],
  [role=button], [role=tab], [role=radio], [role=slider], [role=switch], [tabindex="0"]`

const inPage = `
  const main = document.querySelector('main')
  const isShown = (element) =>
    !element.disabled &&
    !element.closest('[inert], [aria-hidden=true]') &&
    element.checkVisibility({ visibilityProperty: true })
  const controls = () => [...main.querySelectorAll(\`${controls}\`)].filter(isShown)
  const nameOf = (element) =>
    element.tagName.toLowerCase() + ' ' +
    (element.getAttribute('aria-label') || element.innerText || element.id || element.className)
      .trim().slice(0, 60)`

const inFunction = (body: string) => `(() => { ${inPage}\n${body} })()`

/** Numbers the controls of the screen, a group of arrow keys as one; what only a mouse reaches. */
const mark = inFunction(`
  const groups = new Map()
  let next = 0
  for (const element of controls()) {
    const group = element.closest('[role=tablist], [role=radiogroup], [role=toolbar]')
    if (group && !groups.has(group)) groups.set(group, next++)
    element.dataset.stop = group ? groups.get(group) : next++
  }
  const mouseOnly = [...main.querySelectorAll('*')].filter((element) =>
    isShown(element) &&
    getComputedStyle(element).cursor === 'pointer' &&
    !element.closest('[data-stop], label, [role=treegrid][tabindex="0"]'))
  return mouseOnly.map(nameOf)`)

const seenFocus = inFunction(`
  const element = document.activeElement
  if (!main.contains(element) || element === main) return null
  const hasOutline = (style) => style.outlineStyle !== 'none' && parseFloat(style.outlineWidth) >= 2
  let isSeen = hasOutline(getComputedStyle(element, '::after'))
  for (let at = element, steps = 0; at && steps < 4; at = at.parentElement, steps++)
    isSeen ||= hasOutline(getComputedStyle(at))
  return { stop: element.closest('[data-stop]')?.dataset.stop ?? null, isSeen, name: nameOf(element) }`)

const unreached = (stops: readonly string[]) =>
  inFunction(`
  const reached = new Set(${JSON.stringify(stops)})
  return controls().filter(({ dataset }) => dataset.stop && !reached.has(dataset.stop)).map(nameOf)`)

type Focus = { stop: string | null; isSeen: boolean; name: string }

/** More than any screen has. */
const mostStops = 300

/** Goes through a screen by Tab: controls without reach, without visible focus, or without exit. */
export const keyboardFindings = async (page: Page): Promise<string[]> => {
  const findings = (await page.evaluate<string[]>(mark)).map((name) => `by mouse only: ${name}`)
  await page.locator('main#main').focus()
  const stops: string[] = []
  for (let count = 0; count < mostStops; count++) {
    await page.keyboard.press('Tab')
    const focus = await page.evaluate<Focus | null>(seenFocus)
    if (!focus) {
      const missing = await page.evaluate<string[]>(unreached(stops))
      return [...findings, ...missing.map((name) => `not reached: ${name}`)]
    }
    if (focus.stop !== null) stops.push(focus.stop)
    if (!focus.isSeen) findings.push(`focus not visible: ${focus.name}`)
  }
  return [...findings, 'the Tab key does not leave the screen']
}

const layout = inFunction(`
  const findings = []
  const clips = (element) => getComputedStyle(element).overflowX !== 'visible'
  /** What is in view of an element in its frames. */
  const boxOf = (element) => {
    let { left, right, top, bottom } = element.getBoundingClientRect()
    for (let at = element.parentElement; at && at !== main; at = at.parentElement) {
      if (!clips(at)) continue
      const frame = at.getBoundingClientRect()
      left = Math.max(left, frame.left)
      right = Math.min(right, frame.right)
      top = Math.max(top, frame.top)
      bottom = Math.min(bottom, frame.bottom)
    }
    return { element, left, right, top, bottom }
  }
  /** Others scroll past it. */
  const isSticky = (element) => {
    for (let at = element; at && at !== main; at = at.parentElement)
      if (getComputedStyle(at).position === 'sticky') return true
    return false
  }
  const { scrollWidth, clientWidth } = document.documentElement
  if (scrollWidth > clientWidth) findings.push('the page scrolls sideways by ' + (scrollWidth - clientWidth))
  const isHiddenVisually = (element) => {
    const { width, height } = element.getBoundingClientRect()
    return width <= 1 || height <= 1 || element.closest('.visually-hidden')
  }
  const boxes = controls()
    .filter((element) => !isHiddenVisually(element) && !/radio|checkbox|range/.test(element.type))
    .map(boxOf)
    .filter(({ left, right, top, bottom }) => right > left && bottom > top)
  for (const { element, left, right } of boxes)
    if (left < -1 || right > clientWidth + 1) findings.push('outside: ' + nameOf(element))
  for (const [index, a] of boxes.entries())
    for (const b of boxes.slice(index + 1)) {
      if (a.element.contains(b.element) || b.element.contains(a.element)) continue
      if (isSticky(a.element) !== isSticky(b.element)) continue
      const width = Math.min(a.right, b.right) - Math.max(a.left, b.left)
      const height = Math.min(a.bottom, b.bottom) - Math.max(a.top, b.top)
      if (width > 1 && height > 1) findings.push('overlap: ' + nameOf(a.element) + ' / ' + nameOf(b.element))
    }
  for (const element of main.querySelectorAll('*')) {
    if (!isShown(element) || isHiddenVisually(element)) continue
    if (![...element.childNodes].some((node) => node.nodeType === 3 && node.data.trim())) continue
    const style = getComputedStyle(element)
    const isWider = element.scrollWidth > element.clientWidth + 1 && element.clientWidth > 0
    if (!isWider) continue
    if (style.overflowX === 'visible' && /^(BUTTON|A)$/.test(element.tagName) && style.display !== 'inline')
      findings.push('sticks out: ' + nameOf(element))
    if (!/hidden|clip/.test(style.overflowX)) continue
    element.dispatchEvent(new MouseEvent('mouseover', { bubbles: true }))
    if (style.textOverflow !== 'ellipsis') findings.push('cut off: ' + nameOf(element))
    else if (!element.closest('[title]') && !element.querySelector('[title]'))
      findings.push('cut without the whole in a title: ' + nameOf(element))
  }
  return findings`)

/** What does not fit: sideways scrolling, controls outside or on top of others, text cut off. */
export const layoutFindings = (page: Page): Promise<string[]> => page.evaluate<string[]>(layout)
