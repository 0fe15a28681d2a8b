import { createHash } from 'node:crypto'

const style = `
:root{color-scheme:light dark;font:1rem/1.5 system-ui,sans-serif}
body{margin:0 auto;max-width:34rem;padding:1.5rem 1rem}
h1{font-size:1.5rem;line-height:1.25;overflow-wrap:anywhere}
:focus-visible{outline:.1875rem solid;outline-offset:.125rem}
label{display:block;font-weight:600;margin-top:1.25rem;overflow-wrap:anywhere}
input{box-sizing:border-box;width:100%;min-height:2.75rem;padding:.5rem;font:inherit}
button{min-height:2.75rem;margin-top:1.5rem;padding:.5rem 1.5rem;font:inherit;font-weight:600}
.hint,.error{margin:.25rem 0;overflow-wrap:anywhere}
.error{font-weight:600;border-left:.25rem solid #c00;padding-left:.5rem}
a{overflow-wrap:anywhere}
ul{margin:.25rem 0;padding-left:1.25rem}
`

const styleHash = createHash('sha256').update(style).digest('base64')

/**
 * Allows only this page's own style, and forms to this server or, through the redirect that
 * follows, to the partner.
 */
export const contentPolicy = (returnOrigin?: string): string =>
  [
    "default-src 'none'",
    `style-src 'sha256-${styleHash}'`,
    `form-action 'self'${returnOrigin ? ` ${returnOrigin}` : ''}`,
    "base-uri 'none'",
    "frame-ancestors 'none'",
  ].join('; ')

const entities: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
}

const escaped = (text: string): string => text.replace(/[&<>"']/g, (found) => entities[found] ?? '')

const page = (title: string, body: string, mark = ''): string => `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="robots" content="noindex">
<title>${mark}${escaped(title)}</title>
<style>${style}</style>
</head>
<body>
<main>
<h1>${escaped(title)}</h1>
${body}
</main>
</body>
</html>
`

type Item = { name: string; kind: 'api_call' | 'mcp_server'; connected: boolean }

const kinds: Readonly<Record<Item['kind'], string>> = {
  api_call: 'sent with calls that are made for you',
  mcp_server: 'sent to a server that is used for you',
}

const field = ({ name, kind, connected }: Item, refused: boolean): string => {
  const state = connected ? 'connected; leave empty to keep it' : 'not connected yet'
  const error = refused
    ? `<p class="error" id="${name}-error">This value cannot be used: it may have unaccented letters, digits, spaces and signs, 8192 at most.</p>`
    : ''
  const described = `${name}-hint${refused ? ` ${name}-error` : ''}`
  return `<label for="${name}">${name}</label>
<p class="hint" id="${name}-hint">${kinds[kind]} – ${state}</p>
${error}<input id="${name}" name="${name}" type="password" autocomplete="off" autocapitalize="off" spellcheck="false" maxlength="8192" aria-describedby="${described}"${refused ? ' aria-invalid="true"' : ''}>`
}

/** What was wrong with the form; it has the focus, so that screen readers read it at once. */
const errorsOf = (refused: readonly string[]): string =>
  `<div class="error" id="errors" role="alert" tabindex="-1" autofocus>
${
  refused.length > 0
    ? `<p>These values were not saved:</p>
<ul>${refused.map((name) => `<li><a href="#${name}">${name}</a></li>`).join('')}</ul>`
    : '<p>Nothing was entered.</p>'
}
</div>`

export type ConnectPage = {
  organization: string
  returnUrl: string
  items: readonly Item[]
  /** Proves that a form came from this page. */
  csrf: string
  /** After a form was sent: the names whose values were refused; empty when nothing was entered. */
  refused?: readonly string[] | undefined
}

/** The page of a connect link: a field for each credential. It never contains a value. */
export const connectPage = (shown: ConnectPage): string => {
  const { organization, returnUrl, items, csrf, refused } = shown
  const open = items.filter(({ connected }) => !connected).length
  const back = `<p><a href="${escaped(returnUrl)}">Return to ${escaped(new URL(returnUrl).host)}</a></p>`
  const title = `Connect to ${organization}`
  if (items.length === 0) return page(title, `<p>There is nothing to connect.</p>\n${back}`)
  const status =
    open === 0 ? 'Everything is connected.' : `${open} of ${items.length} not connected yet.`
  return page(
    title,
    `${refused ? errorsOf(refused) : ''}
<p>What you enter is stored encrypted, used in your name only, and never shown again.</p>
<p role="status">${status}</p>
<form method="post" autocomplete="off">
<input type="hidden" name="csrf" value="${escaped(csrf)}">
${items.map((item) => field(item, refused?.includes(item.name) ?? false)).join('\n')}
<button type="submit">Connect</button>
</form>
${back}`,
    refused && 'Error: ',
  )
}

/** The same page for expired, revoked and unknown links. */
export const unknownLinkPage = (): string =>
  page(
    'This link does not work',
    '<p>It may have expired. Please go back to where you came from and ask for a new one.</p>',
  )

/** For a form that did not come from this page, or cannot be read. */
export const refusedFormPage = (): string =>
  page('This did not work', '<p>Nothing was saved. Please open the link again.</p>')
