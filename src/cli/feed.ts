import { setTimeout as after } from 'node:timers/promises'
import { CommandFailed } from './command-failed.ts'
import { refusedBy } from './remote.ts'

const retryMs = 1_000

type Asked = {
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

const block = /^(?:id: (?<id>\d+)\n?)?(?:data: (?<data>.+))?$/

/** The blocks of an event stream as they come. */
async function* blocksOf(body: AsyncIterable<Uint8Array>): AsyncGenerator<string> {
  const decoder = new TextDecoder()
  let text = ''
  for await (const bytes of body) {
    text += decoder.decode(bytes, { stream: true })
    const blocks = text.split('\n\n')
    text = blocks.pop() ?? ''
    yield* blocks
  }
}

/**
 * The changes of a read model, one per line, without end: a lost connection is opened again and
 * continues after the last position. @throws CommandFailed
 */
export async function* feedLines(asked: Asked): AsyncGenerator<string> {
  const { url, key, organization, readModel, snapshot, say } = asked
  const path = `/api/admin/organizations/${encodeURIComponent(organization)}/feeds/`
  if (!URL.canParse(url)) throw new CommandFailed(`${url} is not a URL`)
  const target = new URL(path + encodeURIComponent(readModel), url)
  if (!snapshot) target.searchParams.set('snapshot', 'false')
  let last = asked.after === undefined ? undefined : String(asked.after)
  for (;;) {
    try {
      const resume = last === undefined ? {} : { 'last-event-id': last }
      const reply = await fetch(target, { headers: { 'x-api-key': key, ...resume } })
      if (!reply.ok || !reply.body) throw await refusedBy(target, reply)
      for await (const text of blocksOf(reply.body)) {
        const { id, data } = block.exec(text)?.groups ?? {}
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
