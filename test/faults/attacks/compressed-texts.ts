import { user } from '../../support/client.ts'
import { raw } from '../../support/raw.ts'
import { rounds } from '../../support/rounds.ts'
import { type Attack, expect } from '../../support/under-attack.ts'

const mebibyte = 1_048_576
const count = rounds(12, 40)

/** Highly compressible messages of a megabyte, read in pages, lines and feeds, several at once. */
export const compressedTexts: Attack = async (server) => {
  const organization = await server.platform.organization({ credits: 1_000_000 })
  const key = await organization.key()
  for (let n = 0; n < count; n++) {
    const reply = await key.chat({ messages: user(`${n}`.padEnd(mebibyte)) })
    expect(reply, 200)
  }
  const { key: own } = await organization.key({
    type: 'user',
    scopes: ['admin:read', 'sessions:messages'],
  })
  return async () => {
    const ask = (path: string, accept = 'application/json') =>
      raw(server.url)(path, { headers: { 'x-api-key': own, accept } })
    const at = `/api/admin/organizations/${organization.organizationId}`
    expect(await key.chat({ messages: user(' '.repeat(9 * mebibyte)) }), 413)
    const pages = [
      ...Array(4).fill(`${at}/audit/events?type=UserMessageSent&limit=500`),
      `${at}/audit/state?view=messages&limit=500`,
    ]
    for (const reply of await Promise.all(pages.map((path) => ask(path)))) expect(reply, 200)
    const lines = [`${at}/audit/events`, `${at}/feeds/messages`]
    for (const path of lines) expect(await ask(path, 'application/x-ndjson'), 200)
  }
}
