import { blocksOf } from './client.ts'

// biome-ignore lint/suspicious/noExplicitAny: tests read any field
type Item = { op: 'upsert' | 'delete'; id: string; document?: any; position: number }

const item = /^(?:id: (?<id>\d+))?\n?(?:data: (?<data>[^\n]+))?$/

/** Follows a feed as an analyst's program would: keeps a table, and the place where to resume. */
export const consumer = (url: string, key: string) => {
  const table = new Map<string, unknown>()
  const items: Item[] = []
  let last: string | undefined
  let connection: AbortController | undefined
  let reading: Promise<void> = Promise.resolve()
  let waiting: (() => void)[] = []

  const take = (block: string) => {
    if (block.startsWith(':')) return
    const fields = item.exec(block)?.groups
    if (!fields) throw new Error(`not an item: ${block}`)
    if (fields.data) {
      const change: Item = JSON.parse(fields.data)
      items.push(change)
      if (change.op === 'upsert') table.set(change.id, change.document)
      else table.delete(change.id)
    }
    if (fields.id) last = fields.id
    for (const wake of waiting.splice(0)) wake()
  }

  return {
    table,
    items,
    get last() {
      return last
    },
    get ended() {
      return reading
    },
    /** Begins, or goes on where it was. */
    async connect(path: string, at = url) {
      connection = new AbortController()
      const { signal } = connection
      const headers = { 'x-api-key': key, ...(last ? { 'last-event-id': last } : {}) }
      const reply = await fetch(new URL(path, at), { headers, signal })
      if (!reply.ok) throw new Error(`${reply.status}: ${await reply.text()}`)
      reading = (async () => {
        for await (const block of blocksOf(reply.body)) take(block)
      })().catch((error) => {
        if (error instanceof Error && error.message.startsWith('not an item')) throw error
      })
    },
    async leave() {
      connection?.abort()
      await reading
    },
    /** Until the table is as expected. */
    async until(holds: () => boolean) {
      while (!holds()) await new Promise<void>((resolve) => waiting.push(resolve))
      waiting = []
    },
  }
}
