import { v7 as uuid } from 'uuid'
import { allRag, encoded, library } from '../../support/library.ts'
import { type Attack, expect } from '../../support/under-attack.ts'

const deep = '>'.repeat(150_000)
const documents = 10
/** So many more may come to their end meanwhile, whoever is next. */
const readAtOnce = 2

type Read = { data: { datastoreId: string }; metadata: { at: string } }

/** Documents that are slow to read, while another organization uploads ten bytes. */
export const slowDocuments: Attack = async ({ platform }) => {
  const slowly = await platform.organization({ credits: 1_000_000 })
  const quickly = await platform.organization({ credits: 1_000_000 })
  const history = `/organizations/${slowly.organizationId}/audit/events?limit=500&type=`
  const readOf = async (datastore: string): Promise<string[]> => {
    const found: { events: Read[] }[] = await Promise.all(
      ['UploadCompleted', 'UploadFailed'].map((type) => platform.ask('GET', history + type)),
    )
    return found
      .flatMap(({ events }) => events)
      .filter(({ data }) => data.datastoreId === datastore)
      .map(({ metadata }) => metadata.at)
  }
  return async () => {
    const slow = library(await slowly.key({ scopes: allRag }))
    const quick = library(await quickly.key({ scopes: allRag }))
    const [many, one] = [await slow.datastore(uuid()), await quick.datastore(uuid())]
    for (let n = 0; n < documents; n++)
      expect(await slow.upload(many, encoded(`${n}.md`, `${deep}${n}`)), 200)
    expect(await quick.upload(one, encoded('short.txt', 'Ten bytes.')), 200)
    const [file] = await quick.settled(one)
    if (file.status !== 'completed') throw new Error(`the short document has ${file.status}`)
    // Those that are read before it is sent, it does not wait for.
    const read = await readOf(many)
    const open = documents - read.filter((at) => at < file.uploaded_at).length
    const before = read.filter((at) => at >= file.uploaded_at && at < file.indexed_at)
    if (open > readAtOnce && before.length === open)
      throw new Error('the short document waited for all slow ones')
    expect(await slow.ask('DELETE', `/datastores/${many}?force=true`), 200, 204)
  }
}
