import { setTimeout as after } from 'node:timers/promises'
import { z } from 'zod'
import { auditPath, type Remote } from './remote.ts'

const pollMs = 1_000
const pageSize = 500

const event = z.looseObject({
  position: z.number(),
  stream: z.string(),
  revision: z.number(),
  type: z.string(),
  data: z.unknown(),
  metadata: z.looseObject({ at: z.string() }),
})
const page = z.object({ events: z.array(event), next_after: z.number(), has_more: z.boolean() })

type EventsOptions = {
  organization: string
  stream?: string | undefined
  type?: string | undefined
  after?: number | undefined
  /** Continues with new events until the process ends. */
  follow?: boolean | undefined
  /** Whole events, one JSON object per line. */
  json?: boolean | undefined
}

const lineOf = ({ position, stream, revision, type, data, metadata }: z.infer<typeof event>) =>
  `${position}  ${metadata.at}  ${type}  ${stream}@${revision}  ${JSON.stringify(data)}`

/** The events of an organization or the platform, the oldest first. @throws CommandFailed */
export async function* eventLines(ask: Remote, options: EventsOptions): AsyncGenerator<string> {
  const { organization, stream, type, follow, json } = options
  const query = new URLSearchParams({ limit: String(pageSize) })
  if (stream) query.set('stream', stream)
  if (type) query.set('type', type)
  if (options.after !== undefined) query.set('after', String(options.after))
  const path = `${auditPath(organization)}/events`
  for (;;) {
    const { events, next_after, has_more } = page.parse(await ask('GET', `${path}?${query}`))
    for (const event of events) yield json ? JSON.stringify(event) : lineOf(event)
    query.set('after', String(next_after))
    if (has_more) continue
    if (!follow) return
    await after(pollMs)
  }
}
