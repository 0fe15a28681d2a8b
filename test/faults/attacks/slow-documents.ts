import { v7 as uuid } from 'uuid'
import { allRag, encoded, library } from '../../support/library.ts'
import { type Attack, expect } from '../../support/under-attack.ts'

const deep = '>'.repeat(150_000)

/** Documents that are slow to read, while another organization uploads ten bytes. */
export const slowDocuments: Attack = async (server) => {
  const made = async () => {
    const organization = await server.platform.organization({ credits: 1_000_000 })
    return async () => library(await organization.key({ scopes: allRag }))
  }
  const [slowly, quickly] = [await made(), await made()]
  return async () => {
    const [slow, quick] = [await slowly(), await quickly()]
    const [many, one] = [await slow.datastore(uuid()), await quick.datastore(uuid())]
    for (let n = 0; n < 10; n++)
      expect(await slow.upload(many, encoded(`${n}.md`, `${deep}${n}`)), 200)
    expect(await quick.upload(one, encoded('short.txt', 'Ten bytes.')), 200)
    const [file] = await quick.settled(one)
    if (file.status !== 'completed') throw new Error(`the short document has ${file.status}`)
    const { files } = (await slow.ask('GET', `/datastores/${many}/files`)).body
    const open = files.filter(({ status }: { status: string }) => status === 'processing')
    if (open.length === 0) throw new Error('the short document waited for all slow ones')
    expect(await slow.ask('DELETE', `/datastores/${many}?force=true`), 200, 204)
  }
}
