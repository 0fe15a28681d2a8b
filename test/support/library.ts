import type { client } from './client.ts'
import { eventually } from './eventually.ts'

type Client = ReturnType<typeof client>

export const allRag = ['rag:read', 'rag:upload', 'rag:delete']

/** A file as a JSON body has it. */
export const encodedFile = (filename: string, content: string | Uint8Array) => ({
  filename,
  content: Buffer.from(content).toString('base64'),
})

const over = new Set(['completed', 'failed'])

/** What tests do with the documents of one organization. */
export const library = ({ ask }: Pick<Client, 'ask'>) => {
  const at = (path: string) => `/api/external/rag${path}`
  return {
    ask: (method: string, path: string, body?: unknown) => ask(method, at(path), body),
    async datastore(display_name = 'Library'): Promise<string> {
      const { status, body } = await ask('POST', at('/datastores'), { display_name })
      if (status >= 300) throw new Error(`no DataStore: ${status} ${JSON.stringify(body)}`)
      return body.datastore_id
    },
    upload: (datastore_id: string, ...files: ReturnType<typeof encodedFile>[]) =>
      ask('POST', at('/upload'), { datastore_id, files }),
    search: async (datastore_id: string, query: string) =>
      (await ask('POST', at(`/datastores/${datastore_id}/search`), { query })).body.results,
    /** The files of a DataStore once all of them are read. */
    settled: (datastore_id: string) =>
      eventually(async () => {
        const { files } = (await ask('GET', at(`/datastores/${datastore_id}/files`))).body
        return files?.every(({ status }: { status: string }) => over.has(status)) && files
      }),
  }
}
