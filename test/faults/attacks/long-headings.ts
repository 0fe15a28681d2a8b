import { v7 as uuid } from 'uuid'
import { allRag, encodedFile, library } from '../../support/library.ts'
import { type Attack, expect } from '../../support/under-attack.ts'

const heads = Array.from({ length: 6 }, (_, n) => `${'#'.repeat(n + 1)} ${'Heading '.repeat(170)}`)
const body = `${'zebra lion heron otter '.repeat(55)}\n\n`.repeat(4_600)

/** A document of 6 MB whose pieces, with their headings, are more than a gigabyte. */
export const longHeadings: Attack = async (server) => {
  const organization = await server.platform.organization({ credits: 1_000_000 })
  return async () => {
    const { datastore, upload, settled, search } = library(
      await organization.key({ scopes: allRag }),
    )
    const id = await datastore(uuid())
    expect(await upload(id, encodedFile('bomb.md', `${heads.join('\n\n')}\n\n${body}`)), 200)
    const [{ status }] = await settled(id)
    const hits = (await search(id, 'zebra')).length
    if (hits !== (status === 'completed' ? 10 : 0)) throw new Error(`${status}, found ${hits}`)
  }
}
