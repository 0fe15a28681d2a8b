import { refusalEvents } from './access-refusals/events.ts'
import { accountEvents } from './account/events.ts'
import { agentEvents } from './agent/events.ts'
import type { EventTable } from './aggregate.ts'
import { apiKeyEvents } from './api-key/events.ts'
import { connectEvents } from './connect/events.ts'
import { consoleSessionEvents } from './console-session/events.ts'
import { contentEvents } from './content/events.ts'
import { credentialEvents } from './credential/events.ts'
import { dataStoreEvents } from './datastore/events.ts'
import { emailEvents } from './email/events.ts'
import { fileEvents } from './file/events.ts'
import { identityEvents } from './identity/events.ts'
import { installationEvents } from './installation/events.ts'
import { keyringEvents } from './keyring/events.ts'
import { memberEvents } from './member/events.ts'
import { memoryEvents } from './memory/events.ts'
import { messageReadEvents } from './message-reads/events.ts'
import { organizationEvents } from './organization/events.ts'
import { sessionEvents } from './session/events.ts'
import { userEvents } from './user/events.ts'
import { welcomeLinkEvents } from './welcome-link/events.ts'

/**
 * Every event that is ever stored, by the category of its stream; no type is in two of them.
 * Categories are stored for good, in the names of streams. `apikey`, `credentials`, `datastores`,
 * `refusals` and `squad` are older than the folders that now have their events.
 */
export const eventsByCategory = {
  account: accountEvents,
  apikey: apiKeyEvents,
  connect: connectEvents,
  console: consoleSessionEvents,
  content: contentEvents,
  credentials: credentialEvents,
  datastores: dataStoreEvents,
  email: emailEvents,
  file: fileEvents,
  identity: identityEvents,
  installation: installationEvents,
  keyring: keyringEvents,
  member: memberEvents,
  memory: memoryEvents,
  organization: organizationEvents,
  reads: messageReadEvents,
  refusals: refusalEvents,
  session: sessionEvents,
  squad: agentEvents,
  user: userEvents,
  welcome: welcomeLinkEvents,
} as const satisfies Record<string, EventTable>
