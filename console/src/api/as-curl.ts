export type ApiCall = {
  method?: string
  /** With or without an origin; a path gets the given one. */
  url: string
  headers?: Readonly<Record<string, string>>
  body?: unknown
}

/** In single quotes, for a POSIX shell. */
const quoted = (text: string): string => `'${text.replaceAll("'", `'\\''`)}'`

/** The line for a shell that makes the same call with the key in `$REPRISE_API_KEY`. */
export const asCurl = (
  { method = 'GET', url, headers = {}, body }: ApiCall,
  origin: string,
): string => {
  const fields = Object.entries(headers).map(([name, value]) => `-H ${quoted(`${name}: ${value}`)}`)
  const content =
    body === undefined
      ? []
      : [`-H 'Content-Type: application/json'`, `-d ${quoted(JSON.stringify(body, null, 2))}`]
  const parts = [
    `curl ${method === 'GET' ? '' : `-X ${method} `}${quoted(new URL(url, origin).href)}`,
    '-H "X-API-Key: $REPRISE_API_KEY"',
    ...fields,
    ...content,
  ]
  return parts.join(' \\\n  ')
}
