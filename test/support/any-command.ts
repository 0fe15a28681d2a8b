import fc from 'fast-check'
import { z } from 'zod'
import type { Commands } from '../../src/app/commands.ts'
import { refusalEvents } from '../../src/domain/access-refusals/events.ts'
import { agentEvents } from '../../src/domain/agent/events.ts'
import type { EventTable } from '../../src/domain/aggregate.ts'
import { apiKeyEvents } from '../../src/domain/api-key/events.ts'
import { consoleSessionEvents } from '../../src/domain/console-session/events.ts'
import { contentEvents } from '../../src/domain/content/events.ts'
import { mimeTypes } from '../../src/domain/file/types.ts'
import { memberEvents } from '../../src/domain/member/events.ts'
import { messageReadEvents } from '../../src/domain/message-reads/events.ts'
import { sealed } from '../../src/domain/sealed.ts'
import { messagePart, sessionEvents } from '../../src/domain/session/events.ts'
import { userEvents } from '../../src/domain/user/events.ts'
import type { Call } from '../../src/ports/call.ts'
import { fitting, type Named, nearMiss, type Schema } from './json-arbitrary.ts'

/** An event of a table, as its schema has it. */
export const eventIn = (table: EventTable) =>
  z.union(Object.entries(table).map(([type, data]) => z.object({ type: z.literal(type), data })))

/** What a schema allows, or that but for one thing: no JSON, of another type, or out of bounds. */
export const nearly = (schema: z.ZodType, named: Named): fc.Arbitrary<unknown> => {
  const good = fitting(z.toJSONSchema(schema, { io: 'input' }) as Schema, named)
  return fc.oneof(
    { weight: 5, arbitrary: good },
    { weight: 1, arbitrary: nearMiss(good) },
    { weight: 2, arbitrary: nearMiss(good, noJson) },
  )
}

const cyclic: Record<string, unknown> = {}
cyclic.self = cyclic

/** What JSON has no form for, or another one. */
const noJson: fc.Arbitrary<unknown> = fc.constantFrom<unknown>(
  Number.NaN,
  Number.POSITIVE_INFINITY,
  Number.NEGATIVE_INFINITY,
  -0,
  -1,
  1e15,
  1e16,
  2 ** 53,
  undefined,
  [undefined],
  new Array(3),
  1n,
  Symbol('a'),
  () => 1,
  new Date(0),
  new Map([[1, 2]]),
  new Uint8Array(4),
  cyclic,
  'half \ud800',
  { 'half \udc00': 1 },
  { toJSON: () => 'else' },
)

const text = z.string()
const id = z.string()
const userId = z.string()
const by = z.object({ asOwner: z.boolean() })
const scopes = z.array(z.enum(['agents:list', 'rag:read', 'admin:read']))
const giver = z.object({
  userId: userId.nullable(),
  platform: z.boolean(),
  inPerson: z.boolean(),
  asOwner: z.boolean(),
  grantable: scopes,
})
const viewer = z.object({ userId, onlyKeyId: z.string().nullable() })
const owner = z.object({ node: z.enum(['node-1', 'node-2']), attempt: z.int().min(1).max(2) })
const organizationId = z.string()
const sessionId = z.string()
const runId = z.string()
const inUser = z.object({ organizationId, userId })
const upload = z.object({ uploadId: id, datastoreId: id, filename: id })
const configuration = agentEvents.AgentChanged.omit({ agentId: true })
const { ApiKeyChanged } = apiKeyEvents
const { ConsoleSessionStarted } = consoleSessionEvents
const { RunPaused, RunStarted, ApprovalRequested, MessageForked, ...others } = sessionEvents
const { RunCompleted, RunFailed, RunCancelled, RunTimedOut } = others
const { ContentRequested, ContentCompleted, ContentFailed } = contentEvents
const { UserRegistered } = userEvents
const fork = z.object({
  forkId: id,
  forkedFrom: id,
  after: id.nullable(),
  messages: z.int().max(3),
})
const runEnd = eventIn({ RunCompleted, RunFailed, RunCancelled, RunTimedOut })
const steps = z.array(eventIn(sessionEvents)).max(4)

// biome-ignore lint/suspicious/noExplicitAny: commands have different inputs
type Args = any

type AnyCommand = {
  args: z.ZodType
  run(commands: Commands, args: Args, call: Call): Promise<unknown>
}

/** A command that is given one object. */
const plain = <Name extends keyof Commands>(name: Name, args: z.ZodType): AnyCommand => ({
  args,
  run: (commands, given, call) => (commands[name] as Args)(given, call),
})

/** The same, where it is told who gives a key. */
const byGiver = <Name extends keyof Commands>(name: Name, args: z.ZodType): AnyCommand => ({
  args,
  run: (commands, { by, ...given }, call) =>
    (commands[name] as Args)({ ...given, by: { ...by, grantable: new Set(by.grantable) } }, call),
})

/** Every command, and what it may be given. */
export const anyCommand: { [Name in keyof Commands]: AnyCommand } = {
  acceptInvitation: plain(
    'acceptInvitation',
    inUser.extend({ allowBacking: z.boolean(), current: z.boolean() }),
  ),
  addMember: plain(
    'addMember',
    z.object({ email: id, name: text.optional(), role: z.enum(['ADMIN', 'MEMBER']) }),
  ),
  cancelPausedRun: plain('cancelPausedRun', z.object({ sessionId, runId: runId.optional() })),
  changeAddress: plain('changeAddress', z.object({ userId, email: id })),
  changeAgent: plain('changeAgent', z.object({ agentId: id, change: configuration })),
  changeApiKey: byGiver(
    'changeApiKey',
    z.object({
      keyId: id,
      type: z.enum(['organization', 'user']),
      change: ApiKeyChanged.extend({ scopes }).partial(),
      by: giver,
    }),
  ),
  changeMember: plain(
    'changeMember',
    z.object({ userId, role: z.enum(['OWNER', 'ADMIN', 'MEMBER']), by }),
  ),
  checkWelcomeLink: {
    args: z.object({ token: id }),
    run: ({ checkWelcomeLink }, { token }, { at }) => checkWelcomeLink(token, at),
  },
  clearDatastore: plain('clearDatastore', z.object({ datastoreId: id })),
  colorOrganization: plain('colorOrganization', z.object({ color: text.nullable() })),
  connectCredentials: plain(
    'connectCredentials',
    z.object({ userId, linkId: id, values: z.array(z.object({ name: id, value: text })) }),
  ),
  createAgent: plain('createAgent', configuration.extend({ agentId: id.optional(), name: text })),
  createApiKey: byGiver(
    'createApiKey',
    ApiKeyChanged.required().extend({
      keyId: id,
      type: z.enum(['organization', 'user']),
      scopes: scopes.optional(),
      provisioning: z.boolean(),
      userId: userId.optional(),
      by: giver,
    }),
  ),
  createConnectLink: plain('createConnectLink', z.object({ userId, agentId: id, returnUrl: text })),
  createDatastore: plain(
    'createDatastore',
    z.object({ datastoreId: id, displayName: text, description: text.nullable() }),
  ),
  createOrganization: plain(
    'createOrganization',
    z.object({
      name: text,
      owner: z.object({ email: id, name: text.optional() }),
      plan: z.enum(['basic_monthly', 'pro_monthly']).nullable().optional(),
      credits: z.int().optional(),
    }),
  ),
  createWelcomeLink: plain('createWelcomeLink', inUser.extend({ keyId: id })),
  decideOnApproval: plain(
    'decideOnApproval',
    z.object({
      sessionId,
      approvalId: id,
      decision: z.enum(['approve', 'deny']),
      argumentsDigest: id,
      by: userId.nullable(),
      reason: text.optional(),
    }),
  ),
  declineInvitation: plain('declineInvitation', inUser),
  deleteAgent: plain('deleteAgent', z.object({ agentId: id })),
  deleteCredential: plain('deleteCredential', z.object({ userId, name: id })),
  deleteDatastore: plain('deleteDatastore', z.object({ datastoreId: id, force: z.boolean() })),
  deleteFile: plain('deleteFile', z.object({ datastoreId: id, filename: id })),
  endConsoleSession: plain('endConsoleSession', z.object({ tokenHash: id })),
  endConsoleSessions: plain(
    'endConsoleSessions',
    z.object({ of: z.union([z.literal('all'), z.object({ keyId: id })]) }),
  ),
  endRun: plain(
    'endRun',
    z.object({ sessionId, payerId: userId, steps, end: runEnd, owner: owner.optional() }),
  ),
  enterOrganization: plain('enterOrganization', inUser),
  eraseContent: plain('eraseContent', z.object({ contentId: id, sessionId })),
  eraseCredentials: plain('eraseCredentials', z.object({ userId })),
  eraseMemories: plain('eraseMemories', z.object({ userId })),
  erasePersonalData: plain('erasePersonalData', z.object({ userId })),
  eraseSession: plain('eraseSession', z.object({ sessionId, userId })),
  expireApproval: plain('expireApproval', z.object({ sessionId, approvalId: id })),
  findAddressHolder: {
    args: z.object({ email: id }),
    run: ({ findAddressHolder }, { email }) => findAddressHolder(email),
  },
  finishContent: plain(
    'finishContent',
    z.object({
      contentId: id,
      attempt: z.int().min(0).max(1),
      payerId: userId,
      end: z.union([
        z.object({ completed: ContentCompleted }),
        z.object({ failed: ContentFailed }),
      ]),
    }),
  ),
  followUpload: {
    args: z.object({
      one: upload,
      made: z.object({ chunks: z.int(), chunksBlob: text }),
      embedded: z.object({ model: text, dimensions: z.int(), vectorsBlob: text }),
      reason: text,
      last: z.enum(['complete', 'requeue', 'erase', 'fail']),
    }),
    async run(
      { followUpload: follow },
      { one: request, made: index, embedded, reason, last },
      call,
    ) {
      await follow.start(request, call)
      await follow.index(request, index, call)
      if (last === 'fail') return follow.fail(request, reason, call)
      await follow[last as 'complete'](request, call)
      return follow.embed(request, embedded, call)
    },
  },
  forkSession: plain(
    'forkSession',
    z.object({
      sessionId,
      isNew: z.literal(false),
      fork,
      viewer,
      keyId: id.nullable(),
      hidden: z.boolean(),
      node: id,
      at: z.int().min(0).max(2),
      messages: z.array(MessageForked),
    }),
  ),
  grantCredits: plain('grantCredits', z.object({ userId, amount: z.int(), reason: text })),
  pauseRun: plain(
    'pauseRun',
    z.object({ sessionId, owner, steps, requests: z.array(ApprovalRequested), paused: RunPaused }),
  ),
  provisionUser: plain('provisionUser', z.object({ email: id, name: text.optional() })),
  recordAccountChange: plain(
    'recordAccountChange',
    memberEvents.MemberAccountChanged.extend({ userId }),
  ),
  recordKeyUsage: plain(
    'recordKeyUsage',
    z.object({
      keyId: id,
      type: z.enum(['organization', 'user']),
      requests: z.int(),
      lastUsedAt: text,
    }),
  ),
  recordLogin: plain(
    'recordLogin',
    z.object({
      email: id,
      provider: text,
      subject: text,
      verified: z.boolean().optional(),
      accept: z.array(z.object({ organizationId, allowBacking: z.boolean() })).optional(),
    }),
  ),
  recordOutage: {
    args: z.object({ from: z.number() }),
    run: ({ recordOutage }, { from }, call) => recordOutage({ from: new Date(from) }, call),
  },
  recordMessageRead: plain('recordMessageRead', eventIn(messageReadEvents)),
  recordRefusal: plain('recordRefusal', eventIn(refusalEvents)),
  recordSteps: plain('recordSteps', z.object({ sessionId, runId, steps, owner: owner.optional() })),
  registerKeys: {
    args: z.object({}),
    run: ({ registerKeys }, _, call) => registerKeys(call),
  },
  registerUser: plain(
    'registerUser',
    UserRegistered.pick({ origin: true, provisionedBy: true }).extend({
      email: id,
      name: text.optional(),
    }),
  ),
  redeemWelcomeLink: plain('redeemWelcomeLink', z.object({ token: id })),
  remember: plain('remember', z.object({ userId, text })),
  removeDatastoreFile: plain('removeDatastoreFile', z.object({ datastoreId: id, filename: id })),
  removeMember: plain('removeMember', z.object({ userId, by, keyIds: z.array(id).optional() })),
  renameOrganization: plain('renameOrganization', z.object({ name: text })),
  requestContent: plain('requestContent', ContentRequested.extend({ contentId: id })),
  requireErasableUser: {
    args: z.object({ userId }),
    run: ({ requireErasableUser }, given, call) => requireErasableUser(given.userId, call),
  },
  requireProvisionedUser: {
    args: z.object({ userId }),
    run: ({ requireProvisionedUser }, given, call) => requireProvisionedUser(given.userId, call),
  },
  reserveContentCredits: plain(
    'reserveContentCredits',
    z.object({ contentId: id, attempt: z.int(), payerId: id, reserved: z.int() }),
  ),
  resumeRun: plain(
    'resumeRun',
    z.object({ sessionId, runId, from: owner, node: z.enum(['node-1', 'node-2']) }),
  ),
  retryContent: plain('retryContent', z.object({ contentId: id, viewer, payerId: userId })),
  revokeApiKey: byGiver('revokeApiKey', z.object({ keyId: id, by: giver })),
  revokeConnectLinks: plain('revokeConnectLinks', z.object({ userId })),
  revokeUserKey: plain('revokeUserKey', z.object({ keyId: id, userId })),
  sendMessage: {
    args: RunStarted.omit({ continues: true, attempt: true }).extend({
      sessionId,
      viewer,
      keyId: id.nullable(),
      hidden: z.boolean().optional(),
      follows: id.optional(),
      content: z.union([sealed, z.array(z.object({ toolId: id, content: sealed }))]),
      parts: z.array(messagePart).optional(),
      reserve: z.number(),
    }),
    run: ({ sendMessage }, { content, request, before, kept: isKept, parts, ...args }, call) =>
      sendMessage(
        { ...args, seal: () => ({ content, request, before, kept: isKept, parts }) },
        call,
      ),
  },
  setSubscription: plain(
    'setSubscription',
    z.object({ userId, plan: z.enum(['basic_monthly', 'pro_monthly']).nullable() }),
  ),
  settleReservation: plain('settleReservation', z.object({ userId, runId, charge: z.int() })),
  startConsoleSession: plain(
    'startConsoleSession',
    ConsoleSessionStarted.pick({ method: true, platformKeyHash: true }),
  ),
  startContent: plain('startContent', z.object({ contentId: id })),
  storeCredential: plain('storeCredential', z.object({ userId, name: id, value: text })),
  submitContent: plain('submitContent', z.object({ contentId: id, predictionId: text })),
  tellOutcome: plain(
    'tellOutcome',
    z.object({
      sessionId,
      runId,
      toolId: id,
      outcome: z.enum(['done', 'not_done']),
      by: userId.nullable(),
      result: text.optional(),
    }),
  ),
  uploadFiles: {
    args: z.object({
      datastoreId: id,
      files: z
        .array(
          z.object({
            filename: id,
            fileType: z.enum(mimeTypes),
            size: z.int(),
            hash: z.literal('ab'.repeat(32)),
          }),
        )
        .max(2),
    }),
    run: ({ uploadFiles }, { datastoreId, files }, call) =>
      uploadFiles(
        {
          datastoreId,
          files: files.map((file: object) => ({
            ...file,
            async *bytes() {
              yield Buffer.from('text')
            },
          })),
        },
        call,
      ),
  },
}
