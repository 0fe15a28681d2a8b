import type { RefusalCode } from '../../domain/refusal-words.ts'
import { refusalWords } from '../../domain/refusal-words.ts'
import { escaped, notice, type Page, page } from './page.ts'

const brand = '<p class="brand"><span class="mark" aria-hidden="true">R</span>Reprise</p>'

/** The page of a one-time link. Only the button signs in: previews of links read pages. */
export const welcomePage = (): Page =>
  page({
    title: 'Open the console',
    body: `${brand}
<h1>Open the console</h1>
<p>This link signs this browser in to the demo organization. It works once.</p>
<form method="post">
<p><button class="button" type="submit">Open the console</button></p>
</form>`,
  })

/** The same page for links that are unknown, used or expired. */
const unknownWelcomePage = (): Page =>
  notice(
    'This link does not work',
    `<p>A link works once, within an hour after the server's first start.</p>
<p><a href="/console/">Open the console</a> and sign in with the API key that the first start printed.</p>`,
  )

/** After a sign-in at another site: the cookie is sent only where a page of ours leads to. */
export const signedInPage = (): Page =>
  page({
    title: 'Signed in',
    more: '<meta http-equiv="refresh" content="0; url=/console/">\n',
    body: `${brand}
<h1>You are signed in</h1>
<p><a class="button" href="/console/">Open the console</a></p>`,
  })

/** Why a sign-in was refused. */
export const refusedSignInPage = (code: RefusalCode, words: string): Page =>
  code === 'welcome_link_not_found'
    ? unknownWelcomePage()
    : notice(
        'You are not signed in',
        `<p>${escaped(words || refusalWords[code])}.</p>
<p><a href="/console/">Return to the console</a></p>`,
      )

/** For a server whose console was not built. */
export const unbuiltConsolePage = (): Page =>
  notice(
    'The console is not built',
    `<p>Run <code>npm run build:console</code> in the server's folder, and restart the server.</p>
<p>The API reference is at <a href="/docs">/docs</a>.</p>`,
  )
