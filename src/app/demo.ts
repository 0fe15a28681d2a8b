import { createHash } from 'node:crypto'
import type { ChangeAgentCommand } from '../../commands/change-agent.ts'
import type { CreateAgentCommand } from '../../commands/create-agent.ts'
import type { CreateApiKeyCommand } from '../../commands/create-api-key.ts'
import type { CreateDatastoreCommand } from '../../commands/create-datastore.ts'
import type { CreateOrganizationCommand } from '../../commands/create-organization.ts'
import type { ArrivedFile } from '../../commands/upload-files.ts'
import type { AgentConfiguration } from '../domain/agent/events.ts'
import { creditUnit } from '../domain/amounts.ts'
import { organizationKeyStream } from '../domain/api-key/api-key.ts'
import { scopes } from '../domain/api-key/scopes.ts'
import { platformGiver } from '../domain/api-key/who-may.ts'
import { emailStream } from '../domain/email/email.ts'
import type { Load } from '../event-sourcing/transactor.ts'
import { type Call, systemCall } from '../ports/call.ts'
import type { Clock } from '../ports/clock.ts'
import type { Secrets } from '../security/secrets.ts'
import { demoScope, idFor } from '../support/ids.ts'
import type { UploadAndEnqueue } from '../workers/upload-and-enqueue.ts'
import { demoHandbook } from './demo-handbook.ts'

type Uses = {
  /** Whether nothing was stored before the demo. */
  isEmptyStore(): Promise<boolean>
  load: Load
  clock: Clock
  hashEmail: Secrets['hashEmail']
  createOrganization: CreateOrganizationCommand
  createAgent: CreateAgentCommand
  changeAgent: ChangeAgentCommand
  createApiKey: CreateApiKeyCommand
  createDatastore: CreateDatastoreCommand
  uploadAndEnqueue: UploadAndEnqueue
}

const owner = { email: 'owner@demo.invalid', name: 'Demo Owner' }

type DemoAgent = Pick<AgentConfiguration, 'name' | 'description' | 'instruction' | 'tools'>

const library = {
  displayName: 'Handbook',
  description: 'The sample document of the demo organization',
}

async function* once(bytes: Uint8Array) {
  yield bytes
}

const handbook = (): ArrivedFile => {
  const bytes = Buffer.from(demoHandbook)
  return {
    filename: 'handbook.md',
    fileType: 'text/markdown',
    size: bytes.length,
    hash: createHash('sha256').update(bytes).digest('hex'),
    bytes: () => once(bytes),
  }
}

const agents: readonly DemoAgent[] = [
  {
    name: 'Librarian',
    description:
      'Answers questions about documents, manuals and policies from the knowledge base: the handbook with office hours, leave, sick days, travel, expenses, equipment and security',
    instruction: 'Answer from the documents, and name the file that the answer is from.',
    tools: ['search_knowledge'],
  },
  {
    name: 'Studio',
    description: 'Makes, draws and creates images, pictures, video, sound, audio and 3D models',
    instruction: 'Generate what the user asks for, and say what was made.',
    tools: ['generate_content'],
  },
  {
    name: 'Concierge',
    description: 'Remembers facts and preferences of the user, ends or transfers a conversation',
    instruction: 'Remember what the user wants remembered, and recall it when it helps.',
    tools: ['remember', 'recall', 'end_call', 'transfer_call'],
  },
]

/** Always the same call, so that ids are the same again at the next start. */
const callAt = (at: Date): Call => ({ ...systemCall('demo', at), scope: demoScope })

/**
 * Fills an empty store with a demo organization: an owner on the Pro plan with 1,000 credits, an
 * orchestrator with three agents, a document to answer from, and a key with every scope. Answers
 * the key only when it has just been created, else undefined. The next start completes what a crash
 * interrupted; a store with other events is left alone.
 */
export const seedDemo = async (uses: Uses) => {
  const { isEmptyStore, load, clock, hashEmail } = uses
  const { createOrganization, createAgent, changeAgent, createApiKey } = uses
  const { createDatastore, uploadAndEnqueue } = uses
  const call = callAt(clock.now())
  const keyId = idFor(clock, call, 'key')
  const organizationId = idFor(clock, call, 'organization')
  const ownerAccount = await load(emailStream(hashEmail(owner.email)))
  if (!ownerAccount.state.userId && !(await isEmptyStore())) return undefined
  const inside = { ...call, organizationId }
  const apiKey = await load(organizationKeyStream(organizationId, keyId))
  if (apiKey.state.status !== 'none') return undefined

  const team = agents.map((agent) => ({ ...agent, agentId: idFor(clock, call, agent.name) }))
  const { orchestratorAgentId } = await createOrganization(
    { name: 'Demo', owner, plan: 'pro_monthly', credits: 1_000 * creditUnit },
    call,
  )
  const { datastoreId } = await createDatastore(library, inside)
  await uploadAndEnqueue({ datastoreId, files: [handbook()] }, inside)
  for (const agent of team) {
    const datastoreIds = agent.name === 'Librarian' ? [datastoreId] : []
    await createAgent({ ...agent, datastoreIds }, inside)
  }
  const subAgents = team.map(({ agentId }) => agentId)
  await changeAgent({ agentId: orchestratorAgentId, change: { subAgents } }, inside)
  const { key, userId, position } = await createApiKey(
    {
      keyId,
      type: 'organization',
      name: 'Demo',
      description: 'Made at the first start',
      scopes,
      rateLimitMinute: 1_000,
      rateLimitHour: 100_000,
      expiresAt: null,
      provisioning: false,
      by: platformGiver,
    },
    inside,
  )
  return { organizationId, userId, keyId, key, position }
}
