import { isDeepStrictEqual } from 'node:util'
import fc from 'fast-check'
import t from 'tap'
import { refusalsStream } from '../../src/domain/access-refusals/access-refusals.ts'
import { account } from '../../src/domain/account/account.ts'
import { organizationAgents } from '../../src/domain/agent/organization-agents.ts'
import { type Aggregate, type EventTable, evolved } from '../../src/domain/aggregate.ts'
import { apiKey } from '../../src/domain/api-key/api-key.ts'
import { eventsByCategory } from '../../src/domain/categories.ts'
import { connect } from '../../src/domain/connect/connect.ts'
import { consoleSessions } from '../../src/domain/console-session/console-session.ts'
import { content } from '../../src/domain/content/content.ts'
import { contentEvents } from '../../src/domain/content/events.ts'
import { userCredentials } from '../../src/domain/credential/credential.ts'
import { dataStores } from '../../src/domain/datastore/datastore.ts'
import { email } from '../../src/domain/email/email.ts'
import { metadata, type Position } from '../../src/domain/event.ts'
import { file } from '../../src/domain/file/file.ts'
import { identity } from '../../src/domain/identity/identity.ts'
import { installation } from '../../src/domain/installation/installation.ts'
import { keyring } from '../../src/domain/keyring/keyring.ts'
import { member } from '../../src/domain/member/member.ts'
import { memory } from '../../src/domain/memory/memory.ts'
import { messageReadsStream } from '../../src/domain/message-reads/message-reads.ts'
import { organization } from '../../src/domain/organization/organization.ts'
import { sessionEvents } from '../../src/domain/session/events.ts'
import { session } from '../../src/domain/session/session.ts'
import { user } from '../../src/domain/user/user.ts'
import { welcomeLink } from '../../src/domain/welcome-link/welcome-link.ts'
import { decoder } from '../../src/event-sourcing/codec.ts'
import type { RecordedEvent } from '../../src/ports/event-store.ts'
import { leafOf, lineOf } from '../../src/transparency/leaf.ts'
import { anyCommand, eventIn, nearly } from '../support/any-command.ts'
import { type Commanded, commanded } from '../support/commanded.ts'
import { sampleOf } from '../support/events.ts'
import { gathered } from '../support/noted.ts'
import { call, platformCall } from '../support/recorded.ts'
import { rounds } from '../support/rounds.ts'
import { message } from '../support/run-events.ts'

// Each round is stored, read, folded and exported.
t.setTimeout(400_000)

const reads = messageReadsStream('org-1', null).aggregate
const refusals = refusalsStream('org-1', null).aggregate

const aggregates = {
  account,
  apikey: apiKey,
  connect,
  console: consoleSessions,
  content,
  credentials: userCredentials,
  datastores: dataStores,
  email,
  file,
  identity,
  installation,
  keyring,
  member,
  memory,
  organization,
  reads,
  refusals,
  session,
  squad: organizationAgents,
  user,
  welcome: welcomeLink,
} satisfies Record<keyof typeof eventsByCategory, unknown>

/** Commands that take a random token, which no round can guess. */
const byToken: ReadonlySet<string> = new Set(['checkWelcomeLink', 'redeemWelcomeLink'])

const tables: Readonly<Record<string, EventTable>> = eventsByCategory
const categoryOf = (stream: string) => stream.slice(0, stream.indexOf('-'))

/** As it comes from the disk. @throws where it cannot be read or exported */
const readAgain = (stored: RecordedEvent): RecordedEvent => {
  const { decided: _, ...event } = JSON.parse(JSON.stringify(stored))
  const table = tables[categoryOf(event.stream)]
  if (!table) throw new Error(`no table for ${event.stream}`)
  const read = decoder(table)(event)
  metadata.parse(event.metadata)
  if (JSON.stringify(read.data) !== JSON.stringify(stored.data))
    throw new Error(`${event.type} is another event once it is read`)
  const line = lineOf(event)
  if (lineOf(JSON.parse(line)) !== line) throw new Error(`${event.type} is exported otherwise`)
  leafOf(event)
  return read as RecordedEvent
}

/** All that is stored after a position is read, folded and exported. @throws where it cannot be */
const isSound = async (
  { store, load, seen, stopped }: Commanded,
  after: Position,
): Promise<true> => {
  const events = (await gathered(store.history(after))).map(readAgain)
  await seen()
  for (const error of stopped()) throw error
  for (const stream of new Set(events.map((event) => event.stream))) {
    const aggregate = aggregates[categoryOf(stream) as 'session'] as unknown as Aggregate<
      unknown,
      EventTable
    >
    const all = (await gathered(store.read(stream))).map(readAgain)
    const folded = evolved(aggregate, aggregate.initial, all as never)
    const { state } = await load({ aggregate, name: stream })
    if (!isDeepStrictEqual(state, folded)) throw new Error(`${stream} is folded otherwise`)
  }
  return true
}

const few = (name: string, count = 2) =>
  fc.constantFrom(...Array.from({ length: count }, (_, n) => `${name}-${n + 1}`))

/** Ids of few things, so that what is decided meets. */
const namesIn = (users: readonly string[], more: Record<string, readonly string[]> = {}) => {
  const person = fc.constantFrom(...users)
  return {
    userId: person,
    payerId: person,
    ownerId: person,
    sessionId: few('session'),
    runId: few('run'),
    messageId: few('message', 4),
    approvalId: few('approval'),
    toolId: few('tool'),
    keyId: few('key'),
    onlyKeyId: fc.constant(null) as unknown as fc.Arbitrary<unknown>,
    contentId: few('content'),
    datastoreId: few('store'),
    uploadId: few('upload'),
    filename: fc.constantFrom('a.txt', 'b.txt'),
    forkId: few('fork'),
    linkId: few('link'),
    email: fc.constantFrom('olga@example.com', 'paul@example.com', 'Paul@EXAMPLE.com'),
    organizationId: fc.constantFrom(call.organizationId),
    argumentsDigest: fc.constant('digest'),
    name: fc.constantFrom('TOKEN', 'SECRET'),
    expiresAt: fc.constantFrom('2026-01-02T00:00:00.000Z'),
    ...Object.fromEntries(
      Object.entries(more).map(([name, ids]) => [name, fc.constantFrom(...ids)]),
    ),
  }
}

/**
 * Every edge bounds ids, and hashes are made here: no store can look up a longer one, so no command
 * gets one.
 */
const longestId = 256
const isLong = (value: unknown): boolean => typeof value === 'string' && value.length > longestId
const hasLongId = (value: unknown, depth = 0): boolean =>
  depth < 5 &&
  Object.entries(Object(value)).some(
    ([name, field]) =>
      (/(?:ids?|hash(?:es)?)$/i.test(name) && [field].flat().some(isLong)) ||
      (typeof field === 'object' && hasLongId(field, depth + 1)),
  )

for (const [category, aggregate] of Object.entries(aggregates))
  t.test(`${category}: whatever is decided can be stored, read, folded and exported`, async (t) => {
    const scene = await commanded(t)
    const table = tables[category] as EventTable
    const any = aggregate as unknown as Aggregate<unknown, EventTable>
    const event = nearly(eventIn(table), namesIn(['user-1', 'user-2'])).filter(
      (candidate) => !hasLongId(candidate),
    )
    const decisions = fc.array(fc.array(event, { maxLength: 3 }), { minLength: 1, maxLength: 4 })
    let stored = 0
    let refused = 0
    await fc.assert(
      fc.asyncProperty(decisions, few('s'), async (all, name) => {
        const before = await scene.store.head()
        const stream = { aggregate: any, name: `${category}-${call.organizationId}_${name}` }
        const results = await Promise.allSettled(
          all.map((events) => scene.transact(stream, () => events as never, call)),
        )
        for (const result of results)
          if (result.status === 'rejected') refused++
          else stored += (result.value.events as readonly unknown[]).length
        return isSound(scene, before)
      }),
      { numRuns: rounds(20, 100) },
    )
    t.ok(stored > 0 && refused > 0, `${stored} stored, ${refused} refused`)
  })

/** Stands for ids that are made in each round. */
const placeholders = ['$owner', '$person', '$organization', '$orchestrator', '$link'] as const
type Ids = Record<(typeof placeholders)[number], string>

const withIds = (given: unknown, ids: Ids, depth = 0): unknown => {
  if (typeof given === 'string') return Object.hasOwn(ids, given) ? ids[given as keyof Ids] : given
  if (typeof given !== 'object' || given === null || depth > 20) return given
  if (Array.isArray(given)) return given.map((item) => withIds(item, ids, depth + 1))
  if (Object.getPrototypeOf(given) !== Object.prototype) return given
  return Object.fromEntries(
    Object.entries(given).map(([name, value]) => [name, withIds(value, ids, depth + 1)]),
  )
}

const names = {
  ...namesIn(['$owner', '$person']),
  organizationId: fc.constant('$organization'),
  agentId: fc.constantFrom('$orchestrator', 'agent-2'),
  linkId: fc.constant('$link'),
  by: fc.constantFrom('$owner', '$person'),
}

/** An organization in which there is something for every command. */
const organizationIn = async ({ commands }: Commanded, n: number) => {
  const owner = { email: `olga-${n}@example.com`, name: 'Olga' }
  const email = `paul-${n}@example.com`
  const organization = await commands.createOrganization(
    { name: 'One', owner, credits: 1e9 },
    platformCall,
  )
  const { organizationId, ownerUserId, orchestratorAgentId } = organization
  const own = { ...call, organizationId, userId: ownerUserId }
  const { userId } = await commands.provisionUser({ email }, own)
  const mcpServers = [{ name: 'a', url: 'https://a', headers: { a: '{{credential:TOKEN}}' } }]
  await commands.createAgent({ agentId: 'agent-2', name: 'Two', mcpServers }, own)
  const link = { userId, agentId: 'agent-2', returnUrl: 'https://a' }
  const { linkId } = await commands.createConnectLink(link, own)
  const ids: Ids = {
    $owner: ownerUserId,
    $person: userId,
    $organization: organizationId,
    $orchestrator: orchestratorAgentId,
    $link: linkId,
  }
  await commands.storeCredential({ userId, name: 'TOKEN', value: 'a' }, own)
  const described = { displayName: 'S', description: null }
  await commands.createDatastore({ datastoreId: 'store-1', ...described }, own)
  const given = (name: keyof typeof anyCommand, args: object) =>
    anyCommand[name].run(commands, args, own)
  const document = { filename: 'a.txt', fileType: 'text/plain', size: 4, hash: 'ab'.repeat(32) }
  await given('uploadFiles', { datastoreId: 'store-1', files: [document] })
  const giver = { userId: null, platform: true, inPerson: false, asOwner: true, grantable: [] }
  const settings = { name: 'K', description: '', rateLimitMinute: 1, rateLimitHour: 1 }
  const key = { ...settings, keyId: 'key-1', expiresAt: null, provisioning: false, by: giver }
  await given('createApiKey', { ...key, type: 'organization', userId: ownerUserId })
  const viewer = { userId: ownerUserId, onlyKeyId: null }
  for (const place of [1, 2])
    await commands.sendMessage(
      message({
        sessionId: `session-${place}`,
        runId: `run-${place}`,
        viewer,
        payerId: ownerUserId,
        messageId: `message-${place}`,
      }),
      own,
    )
  const runId = 'run-2'
  const paused = sampleOf(sessionEvents, 'RunPaused', { runId }).data
  const request = sampleOf(sessionEvents, 'ApprovalRequested', {
    runId,
    approvalId: 'approval-1',
    argumentsDigest: 'digest',
    userId: ownerUserId,
    expiresAt: '2027-01-01T00:00:00.000Z',
  }).data
  const owns = { node: 'node-1', attempt: 1 }
  await commands.pauseRun(
    { sessionId: 'session-2', owner: owns, steps: [], requests: [request], paused },
    own,
  )
  const content = { userId: ownerUserId, payerId: ownerUserId, keyId: null, maxRetries: 3 }
  const contentId = 'content-1'
  const ordered = sampleOf(contentEvents, 'ContentRequested', content).data
  await commands.requestContent({ ...ordered, contentId, sessionId: 's-1' }, own)
  await commands.startContent({ contentId }, own)
  const end = { failed: { errorMessage: 'no', processingTimeMs: 1 } }
  await commands.finishContent({ contentId, attempt: 0, payerId: ownerUserId, end }, own)
  return { own, ids }
}

t.test('whatever any command decides can be stored, read, folded and exported', async (t) => {
  const scene = await commanded(t)
  const steps = Object.entries(anyCommand).map(([name, { args, run }]) =>
    nearly(args, names)
      .filter((given) => !hasLongId(given))
      .map((given) => ({ name, given, run })),
  )
  const decided = new Set<string>()
  let organizations = 0
  await fc.assert(
    fc.asyncProperty(
      fc.array(fc.oneof(...steps), { minLength: 10, maxLength: 30 }),
      async (sequence) => {
        const before = await scene.store.head()
        const { own, ids } = await organizationIn(scene, organizations++)
        for (const { name, given, run } of sequence) {
          const execute = async () => run(scene.commands, withIds(given, ids), own)
          const [result] = await Promise.allSettled([execute()])
          if (result.status === 'fulfilled') decided.add(name)
        }
        return isSound(scene, before)
      },
    ),
    { numRuns: rounds(25, 250) },
  )
  const never = Object.keys(anyCommand).filter((name) => !decided.has(name) && !byToken.has(name))
  t.ok(never.length < 20, `never accepted: ${never.join(', ')}`)
})
