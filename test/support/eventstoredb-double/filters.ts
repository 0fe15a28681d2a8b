import type { ReadReq } from '@eventstore/db-client/generated/streams_pb.js'
import type { Stored } from './log.ts'

/** Events a server looks at between two checkpoints, unless the client says otherwise. */
const searchWindow = 32

/** What a subscription wants to see, and after how many events it is told how far the server is. */
export type Filter = { wanted: (stored: Stored) => boolean; checkpointEvery: number }

const matches = (expression: { getRegex(): string; getPrefixList(): string[] }) => {
  const prefixes = expression.getPrefixList()
  const regex = new RegExp(expression.getRegex())
  return (name: string) =>
    prefixes.length > 0 ? prefixes.some((prefix) => name.startsWith(prefix)) : regex.test(name)
}

/** A server's filter: by event type or by stream name, each by prefixes or a regular expression. */
export const filterOf = (options: ReadReq.Options): Filter => {
  const filter = options.getFilter()
  if (!filter) return { wanted: () => true, checkpointEvery: Number.POSITIVE_INFINITY }
  const window = filter.hasMax() ? filter.getMax() : searchWindow
  const checkpointEvery = window * filter.getCheckpointintervalmultiplier()
  const byStream = filter.getStreamIdentifier()
  const byType = filter.getEventType()
  const wanted = byStream ? matches(byStream) : byType ? matches(byType) : () => true
  return { wanted: ({ stream, type }) => wanted(byStream ? stream : type), checkpointEvery }
}
