import { z } from 'zod'
import { defaultLimits } from '../../agents/agent-runtime.ts'
import { trimmed } from '../../agents/context.ts'
import { withVisibleParts } from '../../agents/parts.ts'
import { chatMessages } from '../../agents/suspended.ts'
import { agentEvents } from '../../domain/agent/events.ts'
import type { Sealed } from '../../domain/sealed.ts'
import type { Send } from '../../domain/session/send.ts'
import type { Keyed } from '../../security/vault.ts'
import { storedParts } from '../run/message-parts.ts'
import type { TurnRequest } from '../turn.ts'

/** The most characters of a request that are stored, once they are sealed. */
const mostSealed = 400_000

/** An answer that repeats nothing of its request but the defaults. */
const noEcho = '{}'

const toolSpec = z.object({
  name: z.string(),
  description: z.string(),
  parameters: z.record(z.string(), z.unknown()),
  strict: z.boolean().exactOptional(),
  client: z.literal(true).exactOptional(),
})

const settings = z.object({
  temperature: z.number().exactOptional(),
  topP: z.number().exactOptional(),
  stop: z.array(z.string()).exactOptional(),
  seed: z.number().exactOptional(),
  presencePenalty: z.number().exactOptional(),
  frequencyPenalty: z.number().exactOptional(),
  maxTokens: z.number().exactOptional(),
  maxCompletionTokens: z.number().exactOptional(),
  reasoningEffort: z.string().exactOptional(),
  verbosity: z.string().exactOptional(),
})

const format = z.union([
  z.object({ type: z.literal('json_object') }),
  z.object({
    type: z.literal('json_schema'),
    name: z.string(),
    description: z.string().exactOptional(),
    schema: z.record(z.string(), z.unknown()),
    strict: z.boolean().exactOptional(),
  }),
])

/** The options of a request that a resumed run needs besides its session. */
const options = z.object({
  system: chatMessages.exactOptional(),
  after: chatMessages.exactOptional(),
  settings: settings.exactOptional(),
  format: format.exactOptional(),
  targetAgentId: z.string().exactOptional(),
  draft: agentEvents.AgentCreated.exactOptional(),
  clientTools: z
    .object({
      specs: z.array(toolSpec),
      choice: z.union([z.literal('required'), z.object({ name: z.string() })]).exactOptional(),
      parallel: z.boolean().exactOptional(),
    })
    .exactOptional(),
  keywordTools: z.array(z.string()).exactOptional(),
})
type RequestOptions = z.infer<typeof options>

const optionsOf = (request: TurnRequest): RequestOptions => {
  const { system, after = [], settings, format, target, clientTools, keywordTools } = request
  return {
    ...(system.length > 0 ? { system: [...system] } : {}),
    ...(after.length > 0 ? { after: [...after] } : {}),
    ...(settings && Object.keys(settings).length > 0 ? { settings: { ...settings } } : {}),
    ...(format ? { format: { ...format } } : {}),
    ...(request.isDraft ? { draft: request.agent } : {}),
    ...(target ? { targetAgentId: target.agentId } : {}),
    ...(clientTools ? { clientTools: { ...clientTools, specs: [...clientTools.specs] } } : {}),
    ...(keywordTools ? { keywordTools: [...keywordTools] } : {}),
  } as RequestOptions
}

/** Whether a turn is its message alone, as most are. */
const isPlain = (request: TurnRequest): boolean => {
  const { system, before, after, settings, format, target, files } = request
  const texts = system.length + before.length + (after?.length ?? 0)
  const offers = request.clientTools || request.keywordTools
  const isSaved = !request.isDraft
  return texts === 0 && !settings && !format && !target && !offers && !files && isSaved
}

export type StoredRequest = Pick<Send, 'request' | 'before' | 'kept' | 'parts' | 'echo'>

/** The echo of a request, if the room left suffices; its short form always fits. */
const echoIn = (
  room: number,
  { echo }: TurnRequest,
  { seal }: Keyed,
): Pick<StoredRequest, 'echo'> => {
  if (!echo || echo.json === noEcho) return {}
  const full = room > 0 ? seal(echo.json) : undefined
  if (full && full.box.length <= room) return { echo: full }
  return echo.short === noEcho ? {} : { echo: seal(echo.short) }
}

/**
 * Seals the message's files, the parts of the request that another process needs to resume the run,
 * and the request's echo; empty for a plain message.
 */
export const storedRequest = (request: TurnRequest, key: Keyed): StoredRequest => {
  if (isPlain(request)) return echoIn(mostSealed, request, key)
  const requestOptions = optionsOf(request)
  const { seal } = key
  const { messageId, files } = request
  const parts = files ? { parts: storedParts(messageId, files.parts, key) } : {}
  // Files of earlier messages are not stored.
  const before = trimmed(request.before, defaultLimits.context).map((message) =>
    withVisibleParts(message, () => false),
  )
  const sealed = {
    ...(Object.keys(requestOptions).length > 0
      ? { request: seal(JSON.stringify(requestOptions)) }
      : {}),
    ...(before.length > 0 ? { before: seal(JSON.stringify(before)) } : {}),
  }
  const boxes = [sealed.request, sealed.before].map((text) => text?.box.length ?? 0)
  const room = boxes.reduce((left, length) => left - length, mostSealed)
  const echo = echoIn(room, request, key)
  return room < 0 ? { ...parts, ...echo, kept: false } : { ...parts, ...echo, ...sealed }
}

/** @throws when it was not written by this release or an earlier one */
export const openedRequest = ({ open }: Keyed, sealed: Sealed | undefined): RequestOptions =>
  sealed ? options.parse(JSON.parse(open(sealed))) : {}

export const openedBefore = ({ open }: Keyed, sealed: Sealed | undefined) =>
  sealed ? chatMessages.parse(JSON.parse(open(sealed))) : []
