import { lineOf } from '../src/transparency/leaf.ts'
import { outsideHistory } from './outside-history.ts'
import type { ReadEvents } from './read-events.ts'
import type { ReadTree } from './read-tree.ts'

/** Lines are sent so many characters at a time. */
const sentChars = 65_536

type Uses = { readTree: ReadTree; readEvents: ReadEvents }

/**
 * The organization's events from one index to before another as canonical lines, sealed as they are
 * stored; read as they are taken. @throws invalid_query
 */
export const exportLines =
  ({ readTree, readEvents }: Uses) =>
  async (organizationId: string, from: number, upTo?: number) => {
    const tree = await readTree(organizationId)
    const to = upTo ?? tree.size
    if (to > tree.size || from > to) throw outsideHistory('to', tree.size)
    return (async function* lines() {
      let held = ''
      for await (const events of readEvents(organizationId, from, to))
        for (const event of events) {
          held += `${lineOf(event)}\n`
          if (held.length < sentChars) continue
          yield held
          held = ''
        }
      if (held !== '') yield held
    })()
  }
