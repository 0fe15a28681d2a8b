/** A tool that sends its user's credentials, one a header, to a site. */
export const shopCall = (url: string, ...credentials: readonly string[]) => ({
  type: 'api_call' as const,
  name: 'shop',
  description: 'Looks into the shop',
  method: 'GET',
  url: `${url}/stock`,
  headers: Object.fromEntries(credentials.map((name) => [`x-${name}`, `{{credential:${name}}}`])),
  parameters: { type: 'object' },
})
