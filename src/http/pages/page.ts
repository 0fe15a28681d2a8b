import { createHash } from 'node:crypto'
import type { FastifyReply } from 'fastify'
import { connectStyle } from './connect-style.ts'

const hashOf = (style: string): string => createHash('sha256').update(style).digest('base64')

/** A page, and the policy that it is sent with. */
export type Page = { html: string; policy: string }

/**
 * Allows only the page's own style, and forms to this server or, through the redirect that follows,
 * to the partner.
 */
const policyOf = (style: string, returnUrl?: string): string =>
  [
    "default-src 'none'",
    `style-src 'sha256-${hashOf(style)}'`,
    `form-action 'self'${returnUrl ? ` ${new URL(returnUrl).origin}` : ''}`,
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

/** Text in HTML. */
export const escaped = (text: string): string =>
  text.replace(/[&<>"']/g, (character) => entities[character] ?? '')

type Parts = {
  /** In the head, beside the title. */
  more?: string
  title: string
  mark?: string
  body: string
  color?: string | null
  returnUrl?: string
}

/** A page in the style of all pages that need no script. */
export const page = ({
  title,
  mark = '',
  more = '',
  body,
  color = null,
  returnUrl,
}: Parts): Page => {
  const style = connectStyle(color)
  const html = `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="robots" content="noindex">
<title>${mark}${escaped(title)}</title>
${more}<style>${style}</style>
</head>
<body>
<main>
${body}
</main>
</body>
</html>
`
  return { html, policy: policyOf(style, returnUrl) }
}

/** What went wrong, and what to do next. */
export const notice = (title: string, advice: string): Page =>
  page({
    title,
    body: `<section class="card notice">
<span class="mark" aria-hidden="true">!</span>
<h1>${title}</h1>
${advice}
</section>`,
  })

/** Sends a page that no other page may frame, and that names itself to no other site. */
export const sendPage = (reply: FastifyReply, status: number, { html, policy }: Page) =>
  reply
    .code(status)
    .headers({
      'content-type': 'text/html; charset=utf-8',
      'content-security-policy': policy,
      'referrer-policy': 'no-referrer',
      'x-frame-options': 'DENY',
    })
    .serializer((text: string) => text)
    .send(html)
