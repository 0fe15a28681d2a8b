import { blocksOf } from './client.ts'

// biome-ignore lint/suspicious/noExplicitAny: what a server sends is what a test looks into
type Item = { op: 'upsert' | 'delete'; id: string; document?: any; position: number }

const item = /^(?:id: (?<id>\d+))?\n?(?:data: (?<data>[^\n]+))?$/

/** Follows a feed as an analyst's program would: keeps a table, and the place where to resume. */
export const consumer = (url: string, key: string) => {
  const table = new Map<string, unknown>()
  const items: Item[] = []
  let last: string | undefined
  let gone: AbortController | undefined
  let reading: Promise<void> = Promise.resolve()
  let waiting: (() => void)[] = []

  const take = (block: string) => {
    if (block.startsWith(':')) return
    const found = item.exec(block)?.groups
    if (!found) throw new Error(`not an item: ${block}`)
    if (found.data) {
      const one: Item = JSON.parse(found.data)
      items.push(one)
      if (one.op === 'upsert') table.set(one.id, one.document)
      else table.delete(one.id)
    }
    if (found.id) last = found.id
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
      gone = new AbortController()
      const { signal } = gone
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
      gone?.abort()
      await reading
    },
    /** Until the table is as expected. */
    async until(holds: () => boolean) {
      while (!holds()) await new Promise<void>((resolve) => waiting.push(resolve))
      waiting = []
    },
  }
}
