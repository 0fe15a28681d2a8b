import { dataUrl, png, textPart } from '../../support/media.ts'
import { rounds } from '../../support/rounds.ts'
import { type Attack, expect } from '../../support/under-attack.ts'

const organizations = 4
/** More of one organization would be over its limit of requests at once. */
const requests = rounds(3, 16)

/** Messages of 10 MB each, nearly all of it a picture, from several organizations at once. */
export const largeFiles: Attack = async (server) => {
  const keys = await Promise.all(
    Array.from({ length: organizations }, async () => {
      const organization = await server.platform.organization({ credits: 1_000_000 })
      return (await organization.key()).key
    }),
  )
  const url = new URL('/api/external/v1/chat/completions', server.url)
  const image = {
    type: 'image_url',
    image_url: { url: dataUrl('image/png', png(9, 9, 7_800_000)) },
  }
  const content = [textPart('What is this?'), image]
  const body = Buffer.from(JSON.stringify({ messages: [{ role: 'user', content }] }))
  const ask = async (key: string) => {
    const headers = { 'x-api-key': key, 'content-type': 'application/json' }
    const reply = await fetch(url, { method: 'POST', headers, body })
    expect({ status: reply.status, body: await reply.json() }, 200)
  }
  return async () => {
    await Promise.all(keys.flatMap((key) => Array.from({ length: requests }, () => ask(key))))
  }
}
