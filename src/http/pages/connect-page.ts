import type { ConnectFormItem } from '../../../queries/get-connect-form.ts'
import { escaped, notice, type Page, page } from './page.ts'

/** The label of a credential without one: `SHOP_API_KEY` becomes `Shop API key`. */
const spoken = (name: string): string => {
  const words = name
    .toLowerCase()
    .split('_')
    .filter(Boolean)
    .map((word) => (/^(?:api|id|url|pin|sms|crm)$/.test(word) ? word.toUpperCase() : word))
    .join(' ')
  return words.charAt(0).toUpperCase() + words.slice(1)
}

const day = new Intl.DateTimeFormat('en-GB', { dateStyle: 'long', timeZone: 'UTC' })

const listed = new Intl.ListFormat('en', { type: 'conjunction' })

const labelOf = ({ name, label = spoken(name) }: ConnectFormItem): string =>
  `<label for="${name}">${escaped(label)}</label>`

const inputFor = ({ name, connectedAt }: ConnectFormItem, refused: boolean): string => {
  const error = refused
    ? `<p class="error small" id="${name}-error">This value cannot be used. It may have letters without accents, digits, spaces and signs, 8,192 at most.</p>`
    : ''
  const since = connectedAt === undefined ? '' : ` ${name}-since`
  const described = `${name}-state${since} ${name}-hint${refused ? ` ${name}-error` : ''}`
  return `${error}<input id="${name}" name="${name}" type="password" autocomplete="off" autocapitalize="off" spellcheck="false" maxlength="8192" aria-describedby="${described}"${refused ? ' aria-invalid="true"' : ''}>`
}

/** The hints for one credential: its purpose, its receivers, and where to find it. */
const hintsOf = ({ name, description, helpUrl, hosts }: ConnectFormItem): string => {
  const receivers = hosts.length > 0 ? ` It is sent to ${escaped(listed.format(hosts))} only.` : ''
  const about = `${description ? escaped(description) : ''}${receivers}`.trim()
  const help = helpUrl
    ? `<p class="small"><a href="${escaped(helpUrl)}" target="_blank" rel="noopener noreferrer">Where to find this</a> (opens a new tab)</p>`
    : ''
  return `<p class="soft small" id="${name}-hint">${about}</p>
${help}`
}

const card = (item: ConnectFormItem, refused: boolean): string => {
  const { name, label = spoken(name), connectedAt } = item
  if (connectedAt === undefined)
    return `<section class="card">
<div class="top"><h2>${labelOf(item)}</h2><span class="open" id="${name}-state">Not connected yet</span></div>
${hintsOf(item)}
${inputFor(item, refused)}
</section>`
  const date = day.format(new Date(connectedAt))
  return `<section class="card">
<div class="top"><h2>${escaped(label)}</h2><span class="done" id="${name}-state"><span aria-hidden="true">✓ </span>Connected</span></div>
<p class="small" id="${name}-since">Since <time datetime="${escaped(connectedAt)}">${date}</time></p>
${hintsOf(item)}
<details${refused ? ' open' : ''}>
<summary>Replace it</summary>
${labelOf(item)}
${inputFor(item, refused)}
</details>
</section>`
}

/** What was wrong with the form; it has the focus, so that screen readers read it at once. */
const errorsOf = (refused: readonly ConnectFormItem[]): string =>
  `<div class="box" id="errors" role="alert" tabindex="-1" autofocus>
${
  refused.length > 0
    ? `<p class="error">These values were not saved:</p>
<ul>${refused.map(({ name, label = spoken(name) }) => `<li><a href="#${name}">${escaped(label)}</a></li>`).join('')}</ul>`
    : '<p class="error">Nothing was entered.</p>\n<p>Enter at least one value.</p>'
}
</div>`

const brandOf = (organization: string): string => {
  const [initial = ''] = organization.trim()
  return `<p class="brand"><span class="mark" aria-hidden="true">${escaped(initial.toUpperCase())}</span>${escaped(organization)}</p>`
}

export type ConnectPage = {
  organization: string
  /** `#rrggbb`. */
  color: string | null
  returnUrl: string
  items: readonly ConnectFormItem[]
  /** Proves that a form came from this page. */
  csrf: string
  /** After a form was sent: the names whose values were refused; empty when nothing was entered. */
  refused?: readonly string[] | undefined
}

/** The page of a connect link: a field for each credential. It never contains a value. */
export const connectPage = (content: ConnectPage): Page => {
  const { organization, color, returnUrl, items, csrf, refused } = content
  const connected = items.filter(({ connectedAt }) => connectedAt !== undefined).length
  const complete = connected === items.length
  const host = escaped(new URL(returnUrl).host)
  const back = complete
    ? `<p class="first"><a class="button" href="${escaped(returnUrl)}">Return to ${host}</a></p>`
    : `<p class="back"><a href="${escaped(returnUrl)}">Return to ${host}</a> without connecting</p>`
  const title = `Connect to ${organization}`
  const head = `${brandOf(organization)}
<h1>${escaped(title)}</h1>`
  const parts = { title, color, returnUrl }
  if (items.length === 0)
    return page({ ...parts, body: `${head}\n<p>There is nothing to connect.</p>\n${back}` })
  const status = complete
    ? '<span class="good"><span aria-hidden="true">✓ </span>Everything is connected.</span>'
    : `${connected} of ${items.length} connected`
  const fields = items.map((item) => card(item, refused?.includes(item.name) ?? false)).join('\n')
  const form = `<form method="post" autocomplete="off">
<input type="hidden" name="csrf" value="${escaped(csrf)}">
${fields}
<p><button class="button${complete ? ' second' : ''}" type="submit">${complete ? 'Save what you replaced' : 'Connect'}</button></p>
</form>`
  const wrong = items.filter(({ name }) => refused?.includes(name))
  return page({
    ...parts,
    mark: refused ? 'Error: ' : '',
    body: `${head}
<p>The assistants of ${escaped(organization)} need your own access to the services below. They use it for you only.</p>
<p class="soft small">What you enter is stored encrypted and never shown again, not even to ${escaped(organization)}.</p>
${refused ? errorsOf(wrong) : ''}
<p class="state" role="status">${status}</p>
${complete ? `${back}\n${form}` : `${form}\n${back}`}`,
  })
}

/** The same page for expired, revoked and unknown links. */
export const unknownLinkPage = (): Page =>
  notice(
    'This link does not work',
    `<p>A link works for 30 minutes, unless it is withdrawn before.</p>
<ol>
<li>Go back to the app or message that sent you here.</li>
<li>Ask for a new link there, and open it at once.</li>
<li>If you copied the link, make sure that you copied all of it.</li>
</ol>
<p>What you have connected already stays connected.</p>`,
  )

/** For a form that did not come from this page, or cannot be read. */
export const refusedFormPage = (): Page =>
  notice(
    'This did not work',
    `<p>Nothing was saved. Open the link again from where you got it, and enter the values once more.</p>
<p>If that fails too, ask for a new link there.</p>`,
  )
