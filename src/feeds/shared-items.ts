import type { FeedBatch, Item, ShareItems } from './item.ts'

/** Characters that tell items of one position apart: a change begins with its document's id. */
const leadingCharacters = 80

/** A copy: a slice would keep its text in memory. */
const leadOf = ({ text }: Item): string =>
  Buffer.from(text.slice(0, leadingCharacters)).toString('latin1')

const areEqual = (some: readonly Item[], others: readonly Item[]): boolean =>
  some.length === others.length &&
  some.every(({ position, text }, n) => {
    const other = others[n]
    return position === other?.position && text === other.text
  })

/**
 * Gives equal items of several feeds the same array, so that they are in memory once. They are
 * compared by content: a feed never gets an item that it may not show.
 */
export const sharedItems = (): ShareItems => {
  const known = new Map<string, WeakRef<readonly Item[]>>()
  const collected = new FinalizationRegistry<string>((name) => {
    if (known.get(name)?.deref() === undefined) known.delete(name)
  })
  return (items: readonly Item[]): readonly Item[] => {
    const [first] = items
    if (!first) return items
    const name = `${first.position} ${items.length} ${leadOf(first)}`
    const same = known.get(name)?.deref()
    if (same && areEqual(same, items)) return same
    known.set(name, new WeakRef(items))
    collected.register(items, name)
    return items
  }
}

/** The same batches with shared items. No generator: one would keep the items that it was given. */
export const sharedBatches = (
  batches: AsyncIterable<FeedBatch>,
  share: ShareItems,
): AsyncIterableIterator<FeedBatch, undefined> => {
  const iterator = batches[Symbol.asyncIterator]()
  return {
    async next() {
      const { done, value } = await iterator.next()
      if (done) return { done, value: undefined }
      return { value: { ...value, items: share(value.items) } }
    },
    async return() {
      await iterator.return?.()
      return { done: true, value: undefined }
    },
    [Symbol.asyncIterator]() {
      return this
    },
  }
}
