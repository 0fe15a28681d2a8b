import { z } from 'zod'
import { defaultLimits } from '../../agents/agent-runtime.ts'
import { trimmed } from '../../agents/context.ts'
import { showing } from '../../agents/parts.ts'
import { chatMessages } from '../../agents/suspended.ts'
import type { Sealed } from '../../domain/sealed.ts'
import type { Send } from '../../domain/session/send.ts'
import type { Keyed } from '../../security/vault.ts'
import { storedParts } from '../run/message-parts.ts'
import type { TurnRequest } from '../turn.ts'

/** The most characters that are kept of a request, once they are sealed. */
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

/** What a turn needs of its request, besides what is stored of the session. */
const kept = z.object({
  system: chatMessages.exactOptional(),
  after: chatMessages.exactOptional(),
  settings: settings.exactOptional(),
  format: format.exactOptional(),
  targetAgentId: z.string().exactOptional(),
  clientTools: z
    .object({
      specs: z.array(toolSpec),
      choice: z.union([z.literal('required'), z.object({ name: z.string() })]).exactOptional(),
      parallel: z.boolean().exactOptional(),
    })
    .exactOptional(),
  keywordTools: z.array(z.string()).exactOptional(),
})
type KeptRequest = z.infer<typeof kept>

const wanted = (request: TurnRequest): KeptRequest => {
  const { system, after = [], settings, format, target, clientTools, keywordTools } = request
  return {
    ...(system.length > 0 ? { system: [...system] } : {}),
    ...(after.length > 0 ? { after: [...after] } : {}),
    ...(settings && Object.keys(settings).length > 0 ? { settings: { ...settings } } : {}),
    ...(format ? { format: { ...format } } : {}),
    ...(target ? { targetAgentId: target.agentId } : {}),
    ...(clientTools ? { clientTools: { ...clientTools, specs: [...clientTools.specs] } } : {}),
    ...(keywordTools ? { keywordTools: [...keywordTools] } : {}),
  } as KeptRequest
}

/** Whether a turn is its message alone, as most are. */
const isPlain = (request: TurnRequest): boolean => {
  const { system, before, after, settings, format, target, files } = request
  const texts = system.length + before.length + (after?.length ?? 0)
  const offers = request.clientTools || request.keywordTools
  return texts === 0 && !settings && !format && !target && !offers && !files
}

type Kept = Pick<Send, 'request' | 'before' | 'kept' | 'parts' | 'echo'>

/** What its answer repeats of a request, in the room that is left; the short form has it always. */
const echoIn = (room: number, { echo }: TurnRequest, { seal }: Keyed): Pick<Kept, 'echo'> => {
  if (!echo || echo.json === noEcho) return {}
  const whole = room > 0 ? seal(echo.json) : undefined
  if (whole && whole.box.length <= room) return { echo: whole }
  return echo.short === noEcho ? {} : { echo: seal(echo.short) }
}

/**
 * Seals the message's files, what another process would need to go on with a turn, and what its
 * answer repeats of the request; nothing where the stream has it all.
 */
export const keptOf = (request: TurnRequest, key: Keyed): Kept => {
  if (isPlain(request)) return echoIn(mostSealed, request, key)
  const whole = wanted(request)
  const { seal } = key
  const { messageId, files } = request
  const parts = files ? { parts: storedParts(messageId, files.parts, key) } : {}
  // Files of what was said before are not kept.
  const before = trimmed(request.before, defaultLimits.context).map((one) =>
    showing(one, () => false),
  )
  const sealed = {
    ...(Object.keys(whole).length > 0 ? { request: seal(JSON.stringify(whole)) } : {}),
    ...(before.length > 0 ? { before: seal(JSON.stringify(before)) } : {}),
  }
  const boxes = [sealed.request, sealed.before].map((one) => one?.box.length ?? 0)
  const room = boxes.reduce((left, length) => left - length, mostSealed)
  const echo = echoIn(room, request, key)
  return room < 0 ? { ...parts, ...echo, kept: false } : { ...parts, ...echo, ...sealed }
}

/** @throws when it was not written by this release or an earlier one */
export const openedRequest = ({ open }: Keyed, sealed: Sealed | undefined): KeptRequest =>
  sealed ? kept.parse(JSON.parse(open(sealed))) : {}

export const openedBefore = ({ open }: Keyed, sealed: Sealed | undefined) =>
  sealed ? chatMessages.parse(JSON.parse(open(sealed))) : []
