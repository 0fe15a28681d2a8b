import { type Attack, expect } from '../../support/under-attack.ts'

/** Thousands of sign-ins to the console: a right key and wrong ones, links and large cookies. */
export const floodsOfSignIns: Attack = async ({ url, platform }) => {
  const organization = await platform.organization()
  const { key } = await organization.key()
  const { origin } = new URL(url)
  const cookie = `reprise_session=${'x'.repeat(8_000)}`
  const json = { 'content-type': 'application/json', origin }
  const signIn = async (n: number) => {
    const body = JSON.stringify({ api_key: n % 2 ? key : `svc_live_${n}` })
    const reply = await fetch(`${url}/console/session`, { method: 'POST', headers: json, body })
    await reply.arrayBuffer()
    expect({ status: reply.status }, 200, 401, 429)
  }
  const look = async (path: string, headers: Record<string, string>, ...statuses: number[]) => {
    const reply = await fetch(url + path, { headers })
    await reply.arrayBuffer()
    expect({ status: reply.status }, ...statuses)
  }
  return async () => {
    for (let n = 0; n < 100; n++)
      await Promise.all(
        Array.from({ length: 10 }, (_, m) =>
          Promise.all([
            signIn(10 * n + m),
            look(`/console/welcome/${'a'.repeat(43)}`, {}, 404, 429),
            look('/api/external/sessions', { cookie }, 401),
            look('/console/runs', {}, 200),
          ]),
        ),
      )
    const { length } = await platform.events(organization.organizationId, 'ConsoleSessionStarted')
    if (length > 40) throw new Error(`${length} sessions were started in a flood`)
  }
}
