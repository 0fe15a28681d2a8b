import { allRag, encodedFile, library } from '../../support/library.ts'
import { rounds } from '../../support/rounds.ts'
import { type Attack, expect } from '../../support/under-attack.ts'

const words = Array.from({ length: 2_000 }, (_, n) => `w${n.toString(36)}`)
const paragraph = (n: number) =>
  Array.from({ length: 120 }, (_, m) => words[(n * 7 + m * 31) % words.length]).join(' ')
const paragraphs = Array.from({ length: rounds(2_000, 8_000) }, (_, n) => paragraph(n)).join('\n\n')

/** Searches for hundreds of words in a large DataStore, as many at once as there may be. */
export const searches: Attack = async (server) => {
  const organization = await server.platform.organization({ credits: 1_000_000 })
  const { datastore, upload, settled } = library(await organization.key({ scopes: allRag }))
  const id = await datastore()
  expect(await upload(id, encodedFile('many.txt', paragraphs)), 200)
  const [{ status }] = await settled(id)
  if (status !== 'completed') throw new Error(`the document has ${status}`)
  return async () => {
    const { ask } = library(await organization.key({ scopes: allRag }))
    const query = words.slice(0, 500).join(' ')
    for (let n = 0; n < 3; n++) {
      const replies = await Promise.all(
        Array.from({ length: 8 }, () => ask('POST', `/datastores/${id}/search`, { query })),
      )
      const successes = replies.filter((reply) => expect(reply, 200, 429).status === 200)
      if (successes.length < 5)
        throw new Error(`${successes.length} of 5 searches at once were answered`)
    }
  }
}
