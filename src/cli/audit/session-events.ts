import { z } from 'zod'
import type { Environment } from '../../config.ts'
import { CommandFailed } from '../command-failed.ts'
import { auditPath, defaultUrl, remote } from '../remote.ts'
import { eventsIn } from './events-in.ts'

const pageSize = 500
const page = z.object({
  events: z.array(z.unknown()),
  next_after: z.number(),
  has_more: z.boolean(),
})

type SessionSource = {
  session: string
  organization?: string | undefined
  url?: string | undefined
  key?: string | undefined
}

/** The events of a session in an export, texts sealed. */
const inExport = async (path: string, session: string): Promise<unknown[]> => {
  const sessionEvents: unknown[] = []
  for await (const events of eventsIn(path))
    for (const event of events)
      if (event.stream.startsWith('session-') && event.stream.endsWith(`_${session}`))
        sessionEvents.push(event)
  return sessionEvents
}

const onServer = async (env: Environment, source: SessionSource): Promise<unknown[]> => {
  const { session, organization, url = defaultUrl(env), key } = source
  if (!organization) throw new CommandFailed('--organization <id> is required, or an export', 2)
  const known = key ?? (env.REPRISE_API_KEY || env.SUPER_ADMIN_KEY)
  if (!known)
    throw new CommandFailed(
      '--key, REPRISE_API_KEY (with admin:read) or SUPER_ADMIN_KEY must be set to ask a server',
    )
  const ask = remote(url, known)
  const query = new URLSearchParams({
    limit: String(pageSize),
    stream: `session-${organization}_${session}`,
  })
  const at = `${auditPath(organization)}/events`
  const sessionEvents: unknown[] = []
  for (;;) {
    const { events, next_after, has_more } = page.parse(await ask('GET', `${at}?${query}`))
    sessionEvents.push(...events)
    if (!has_more) return sessionEvents
    query.set('after', String(next_after))
  }
}

/**
 * The events of a session, from an export or a server. @throws CommandFailed when there are none
 */
export const eventsOfSession = async (
  env: Environment,
  path: string | undefined,
  source: SessionSource,
): Promise<unknown[]> => {
  const sessionEvents = path ? await inExport(path, source.session) : await onServer(env, source)
  if (sessionEvents.length === 0) throw new CommandFailed(`there is no session ${source.session}`)
  return sessionEvents
}
