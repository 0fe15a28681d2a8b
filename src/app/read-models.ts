import { createHash } from 'node:crypto'
import { readdirSync, readFileSync } from 'node:fs'
import type { z } from 'zod'
import { accountChanges } from '../../projections/account-changes.ts'
import { accounts } from '../../projections/accounts.ts'
import { agentSummaries } from '../../projections/agent-summaries.ts'
import { agents } from '../../projections/agents.ts'
import { apiKeys } from '../../projections/api-keys.ts'
import { approvals } from '../../projections/approvals.ts'
import { connectLinks } from '../../projections/connect-links.ts'
import { consoleSessions } from '../../projections/console-sessions.ts'
import { contents } from '../../projections/contents.ts'
import { credentials } from '../../projections/credentials.ts'
import { datastores } from '../../projections/datastores.ts'
import { eventIndex } from '../../projections/event-index.ts'
import { forks } from '../../projections/forks.ts'
import { identities } from '../../projections/identities.ts'
import { members } from '../../projections/members.ts'
import { memories } from '../../projections/memories.ts'
import { messages } from '../../projections/messages.ts'
import { organizations } from '../../projections/organizations.ts'
import { platformTransparency } from '../../projections/platform-transparency.ts'
import { runSteps } from '../../projections/run-steps.ts'
import { runSummaries } from '../../projections/run-summaries.ts'
import { type RunView, runs } from '../../projections/runs.ts'
import { sessions } from '../../projections/sessions.ts'
import { storage } from '../../projections/storage.ts'
import { transparency } from '../../projections/transparency.ts'
import { unreadableEvents } from '../../projections/unreadable-events.ts'
import { uploads } from '../../projections/uploads.ts'
import { usage } from '../../projections/usage.ts'
import { users } from '../../projections/users.ts'
import { readingVersion } from '../domain/versions.ts'
import type { View, ViewSpec, Views } from '../ports/views.ts'

/** The right to fold events into views that several processes read. */
export const projectorLease = 'projector'

/** The same for the views that are folded later. */
export const laterProjectorLease = 'projector of later views'

/**
 * The version of the projections' code, which changes with any of its files and with how stored
 * events are read: snapshots that other code has folded are not used.
 */
export const projectionsVersion = (): number => {
  const folder = new URL('../../projections/', import.meta.url)
  const hash = createHash('sha256')
  for (const name of readdirSync(folder).toSorted())
    if (/\.[jt]s$/.test(name)) hash.update(readFileSync(new URL(name, folder)))
  hash.update(readingVersion())
  return hash.digest().readUIntBE(0, 6)
}

/** In DATA_DIR: the log, and the views that are folded later where another process does that. */
export const logFolder = 'log'
export const laterFolder = 'views-later'

const reading =
  (views: Views) =>
  <Doc>(projection: ViewSpec & { schema: z.ZodType<Doc> }): Promise<View<Doc>> =>
    views.view<Doc>(projection)

/** The reading side of the read models that are folded later. */
export const laterViewsOf = async (views: Views) => {
  const of = reading(views)
  return {
    eventIndex: await of(eventIndex),
    platformTransparency: await of(platformTransparency),
    runSteps: await of(runSteps),
    runSummaries: await of(runSummaries),
    transparency: await of(transparency),
    usage: await of(usage),
  }
}

export type LaterViews = Awaited<ReturnType<typeof laterViewsOf>>

/** Runs of erased sessions are unknown, except to auditors and analysts, who read the log. */
const withoutErased = (view: View<RunView>): View<RunView> => ({
  ...view,
  async get(id) {
    const run = await view.get(id)
    return run?.erased ? undefined : run
  },
})

/** The reading side of the prompt read models. */
export const viewsOf = async (views: Views) => {
  const of = reading(views)
  return {
    accountChanges: await of(accountChanges),
    accounts: await of(accounts),
    agentSummaries: await of(agentSummaries),
    agents: await of(agents),
    apiKeys: await of(apiKeys),
    approvals: await of(approvals),
    connectLinks: await of(connectLinks),
    consoleSessions: await of(consoleSessions),
    contents: await of(contents),
    credentials: await of(credentials),
    datastores: await of(datastores),
    forks: await of(forks),
    identities: await of(identities),
    members: await of(members),
    memories: await of(memories),
    messages: await of(messages),
    organizations: await of(organizations),
    runs: withoutErased(await of(runs)),
    sessions: await of(sessions),
    storage: await of(storage),
    unreadableEvents: await of(unreadableEvents),
    uploads: await of(uploads),
    users: await of(users),
  }
}
