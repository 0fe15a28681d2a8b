import { accountChanges } from './account-changes.ts'
import { accounts } from './accounts.ts'
import { agentSummaries } from './agent-summaries.ts'
import { agents } from './agents.ts'
import { apiKeys } from './api-keys.ts'
import { approvals } from './approvals.ts'
import { connectLinks } from './connect-links.ts'
import { consoleSessions } from './console-sessions.ts'
import { contents } from './contents.ts'
import { credentials } from './credentials.ts'
import { datastores } from './datastores.ts'
import { eventIndex } from './event-index.ts'
import { forks } from './forks.ts'
import { identities } from './identities.ts'
import { members } from './members.ts'
import { memories } from './memories.ts'
import { messages } from './messages.ts'
import { organizations } from './organizations.ts'
import { platformTransparency } from './platform-transparency.ts'
import type { AnyProjection, Pace, ReadModel } from './projection.ts'
import { runSteps } from './run-steps.ts'
import { runSummaries } from './run-summaries.ts'
import { runs } from './runs.ts'
import { sessions } from './sessions.ts'
import { storage } from './storage.ts'
import { transparency } from './transparency.ts'
import { unreadableEvents } from './unreadable-events.ts'
import { uploads } from './uploads.ts'
import { usage } from './usage.ts'
import { users } from './users.ts'

/** Every read model. */
export const projections: readonly AnyProjection[] = [
  accountChanges,
  accounts,
  agentSummaries,
  agents,
  apiKeys,
  approvals,
  connectLinks,
  consoleSessions,
  contents,
  credentials,
  datastores,
  eventIndex,
  forks,
  identities,
  members,
  memories,
  messages,
  organizations,
  platformTransparency,
  runSteps,
  runSummaries,
  runs,
  sessions,
  storage,
  transparency,
  unreadableEvents,
  uploads,
  usage,
  users,
]

/** The read models of one pace. */
export const projectionsAt = (pace: Pace): readonly AnyProjection[] =>
  projections.filter((projection) => (projection.pace ?? 'prompt') === pace)

const isShown = (projection: AnyProjection): projection is ReadModel =>
  'shown' in projection && projection.shown !== undefined

/** Those that an organization's auditors and analysts see, by name. */
export const readModels: ReadonlyMap<string, ReadModel> = new Map(
  projections.filter(isShown).map((projection) => [projection.name, projection]),
)
