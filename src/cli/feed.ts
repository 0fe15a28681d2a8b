import { setTimeout as after } from 'node:timers/promises'
import { linesOf } from '../support/lines.ts'
import { CommandFailed } from './command-failed.ts'
import { refusedBy } from './remote.ts'

const retryMs = 1_000

type FeedOptions = {
  url: string
  key: string
  organization: string
  readModel: string
  /** Continue after this position; else a snapshot comes first, if wanted. */
  after?: number | undefined
  snapshot: boolean
  /** Called with the reason when a connection is lost. */
  say(line: string): void
}

/** A frame of an event stream (WHATWG HTML, 9.2.6). */
type Frame = { id?: string; data?: string }

/**
 * The frames of an event stream, also those with an `id:` alone: they say where to resume, and
 * eventsource-parser passes them over.
 */
async function* framesOf(body: AsyncIterable<Uint8Array>): AsyncGenerator<Frame> {
  let frame: Frame = {}
  for await (const lines of linesOf(body))
    for (const line of lines) {
      const end = line.indexOf(':')
      const field = end < 0 ? line : line.slice(0, end)
      const value = end < 0 ? '' : line.slice(line[end + 1] === ' ' ? end + 2 : end + 1)
      if (line === '') {
        yield frame
        frame = {}
      } else if (field === 'id') frame.id = value
      else if (field === 'data')
        frame.data = frame.data === undefined ? value : `${frame.data}\n${value}`
    }
}

/**
 * The changes of a read model, one per line, without end: a lost connection is opened again and
 * continues after the last position. @throws CommandFailed
 */
export async function* feedLines(options: FeedOptions): AsyncGenerator<string> {
  const { url, key, organization, readModel, snapshot, say } = options
  const path = `/api/admin/organizations/${encodeURIComponent(organization)}/feeds/`
  if (!URL.canParse(url)) throw new CommandFailed(`${url} is not a URL`)
  const target = new URL(path + encodeURIComponent(readModel), url)
  if (!snapshot) target.searchParams.set('snapshot', 'false')
  let last = options.after === undefined ? undefined : String(options.after)
  for (;;) {
    try {
      const resume = last === undefined ? {} : { 'last-event-id': last }
      const reply = await fetch(target, { headers: { 'x-api-key': key, ...resume } })
      if (!reply.ok || !reply.body) throw await refusedBy(target, reply)
      for await (const { id, data } of framesOf(reply.body)) {
        if (data) yield data
        last = id ?? last
      }
      say('the feed has ended, going on')
    } catch (error) {
      if (error instanceof CommandFailed) throw error
      say(`no connection to ${target.origin}, trying again`)
    }
    await after(retryMs)
  }
}
