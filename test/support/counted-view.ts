import type { View } from '../../src/ports/views.ts'

/** A view that counts the documents it gives, and their characters as JSON. */
export const countedView = <Doc>(view: View<Doc>) => {
  let documents = 0
  let characters = 0
  const count = (items: readonly Doc[]) => {
    documents += items.length
    for (const item of items) characters += JSON.stringify(item).length
  }
  const counting: View<Doc> = {
    async get(id) {
      const document = await view.get(id)
      if (document !== undefined) count([document])
      return document
    },
    async find(query) {
      const page = await view.find(query)
      count(page.items)
      return page
    },
    async *all() {
      for await (const batch of view.all()) {
        count(batch.map(({ document }) => document))
        yield batch
      }
    },
  }
  return {
    view: counting,
    /** What was read since it was asked last. */
    reads: () => {
      const read = { documents, characters }
      documents = 0
      characters = 0
      return read
    },
  }
}
