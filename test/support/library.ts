import type { client } from './client.ts'

type Client = ReturnType<typeof client>

export const allRag = ['rag:read', 'rag:upload', 'rag:delete']

/** A file as a JSON body has it. */
export const encoded = (filename: string, content: string | Uint8Array) => ({
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
      return (await ask('POST', at('/datastores'), { display_name })).body.datastore_id
    },
    upload: (datastore_id: string, ...files: ReturnType<typeof encoded>[]) =>
      ask('POST', at('/upload'), { datastore_id, files }),
    search: async (datastore_id: string, query: string) =>
      (await ask('POST', at(`/datastores/${datastore_id}/search`), { query })).body.results,
    /** The files of a DataStore once all of them are read; a minute at most. */
    async settled(datastore_id: string) {
      for (const end = Date.now() + 60_000; Date.now() < end; ) {
        const { files } = (await ask('GET', at(`/datastores/${datastore_id}/files`))).body
        if (files.every(({ status }: { status: string }) => over.has(status))) return files
        await new Promise((resolve) => setTimeout(resolve, 50))
      }
      throw new Error('the files were not read within a minute')
    },
  }
}
