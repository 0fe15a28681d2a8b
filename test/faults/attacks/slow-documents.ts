import { v7 as uuid } from 'uuid'
import { allRag, encodedFile, library } from '../../support/library.ts'
import { type Attack, expect } from '../../support/under-attack.ts'

const deep = '>'.repeat(150_000)
const documents = 10
/**
 * Documents that are slow to read, while another organization uploads ten bytes, which are read
 * nevertheless. test/workers/work-queue.test.ts tests the turns of organizations.
 */
export const slowDocuments: Attack = async ({ platform }) => {
  const slowly = await platform.organization({ credits: 1_000_000 })
  const quickly = await platform.organization({ credits: 1_000_000 })
  return async () => {
    const slow = library(await slowly.key({ scopes: allRag }))
    const quick = library(await quickly.key({ scopes: allRag }))
    const [slowStore, quickStore] = [await slow.datastore(uuid()), await quick.datastore(uuid())]
    for (let n = 0; n < documents; n++)
      expect(await slow.upload(slowStore, encodedFile(`${n}.md`, `${deep}${n}`)), 200)
    expect(await quick.upload(quickStore, encodedFile('short.txt', 'Ten bytes.')), 200)
    const [file] = await quick.settled(quickStore)
    if (file.status !== 'completed') throw new Error(`the short document has ${file.status}`)
    expect(await slow.ask('DELETE', `/datastores/${slowStore}?force=true`), 200, 204)
  }
}
