import { lineOf } from '../src/transparency/leaf.ts'
import { eventsAt, type LeafUses, positionsOf } from './events-at.ts'
import { outsideHistory } from './outside-history.ts'

/** Lines are sent so many characters at a time. */
const sentChars = 65_536

/**
 * The organization's events from one index to before another as canonical lines, sealed as they are
 * stored; read as they are taken. @throws invalid_query
 */
export const exportLines =
  ({ readTree, history }: LeafUses) =>
  async (organizationId: string, from: number, upTo?: number) => {
    const tree = await readTree(organizationId)
    const to = upTo ?? tree.size
    if (to > tree.size || from > to) throw outsideHistory('to', tree.size)
    return (async function* lines() {
      let held = ''
      for await (const event of eventsAt(history, positionsOf(tree, from, to))) {
        held += `${lineOf(event)}\n`
        if (held.length < sentChars) continue
        yield held
        held = ''
      }
      if (held !== '') yield held
    })()
  }
export type ExportLines = ReturnType<typeof exportLines>
