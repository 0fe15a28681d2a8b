import type { Observable } from 'rxjs'

/** What a message has beside its text. */
export type ContentKind = 'image' | 'audio' | 'file'

/** A file that a user's message has, as far as it is known without reading it. */
export type PartFacts = {
  kind: ContentKind
  /** The type of its bytes; for kind `file`, as the client declares it. */
  mediaType: string
  bytes: number
  /** Its place: so many characters of the message's text come before it. */
  at: number
  name?: string
  /** How closely a model is to look at an image. */
  detail?: 'auto' | 'low' | 'high'
  /** Of an image, in pixels, where its header tells them. */
  width?: number
  height?: number
}

export type ContentPart = PartFacts & {
  /** Its bytes, from the beginning each time. */
  read(): AsyncIterable<Uint8Array>
  /** Puts it where `read` finds it; false where it is gone. Absent: it is there. */
  ready?(): Promise<boolean>
}

export type ChatMessage =
  | { role: 'system' | 'user'; content: string; parts?: readonly ContentPart[] }
  | { role: 'assistant'; content: string; toolCalls?: readonly ToolCall[] }
  | { role: 'tool'; content: string; toolCallId: string; name: string }

/** A function the model asks to call; `arguments` is the JSON text the model wrote. */
export type ToolCall = { id: string; name: string; arguments: string }

/** A function the model may call; `parameters` is a JSON Schema. */
export type ToolSpec = {
  name: string
  description: string
  parameters: Record<string, unknown>
  /** Arguments fit the schema exactly, where the provider can see to that. */
  strict?: boolean
  /** The client calls it, not the agent. */
  client?: true
}

/** The model must call a tool: any, or the one that is named. */
export type ToolChoice = 'required' | { name: string }

/** How a model is to answer; the provider decides where a field is absent. */
export type ModelSettings = {
  temperature?: number
  topP?: number
  /** Texts at which the answer ends, before them. */
  stop?: readonly string[]
  seed?: number
  presencePenalty?: number
  frequencyPenalty?: number
  /** Of one answer, by one of the two names that providers know this limit by. */
  maxTokens?: number
  maxCompletionTokens?: number
  reasoningEffort?: string
  verbosity?: string
}

/** What an answer must be: a JSON object, or JSON that fits a schema. */
export type AnswerFormat =
  | { type: 'json_object' }
  | {
      type: 'json_schema'
      name: string
      description?: string
      schema: Readonly<Record<string, unknown>>
      strict?: boolean
    }

export type ModelRequest = ModelSettings & {
  /** The name after `provider/`. */
  model: string
  messages: readonly ChatMessage[]
  tools?: readonly ToolSpec[]
  format?: AnswerFormat
  /** Absent: the model decides. Only with tools. */
  toolChoice?: ToolChoice
  /** False: at most one call in an answer. Only with tools. */
  parallelToolCalls?: boolean
}

/** In tokens. */
export type Usage = { promptTokens: number; completionTokens: number }

export type FinishReason = 'stop' | 'length' | 'tool_calls' | 'content_filter'

/**
 * What a model says, in order: any number of text and tool_call, then one done. An answer that was
 * cut off has no calls.
 */
export type ModelEvent =
  | { type: 'text'; text: string }
  | { type: 'tool_call'; call: ToolCall }
  /** `by` is set where another model than the one resolved has answered. */
  | { type: 'done'; finishReason: FinishReason; usage: Usage; by?: { name: string; price: Price } }

/** The provider could not be reached or kept failing (503 llm_service_unavailable). */
export class ModelUnavailable extends Error {
  override readonly name = 'ModelUnavailable'
  /** How long the provider asked to be left alone, where it said so. */
  readonly retryAfterMs: number | undefined
  /** It works, and refuses this request because of too many or too large ones. */
  readonly isBusy: boolean
  constructor(message: string, more: { retryAfterMs?: number | undefined; isBusy?: boolean } = {}) {
    super(message)
    this.retryAfterMs = more.retryAfterMs
    this.isBusy = more.isBusy ?? false
  }
}

/** The provider did not answer in time (504). */
export class ModelTimeout extends Error {
  override readonly name = 'ModelTimeout'
}

/** The provider answered what is not in its protocol (500 orchestrator_error). */
export class ModelFault extends Error {
  override readonly name: string = 'ModelFault'
}

/**
 * The provider refuses our key or the request, or does not know the model; or the model's provider
 * is not configured (500 model_misconfigured).
 */
export class ModelMisconfigured extends ModelFault {
  override readonly name = 'ModelMisconfigured'
}

/** The answer does not fit its format, also when asked for again (502 invalid_model_output). */
export class ModelOutputInvalid extends ModelFault {
  override readonly name = 'ModelOutputInvalid'
}

/** The conversation is too long for the model (400 context_length_exceeded). */
export class ContextTooLong extends ModelFault {
  override readonly name = 'ContextTooLong'
}

/**
 * A model provider. Cold: every subscription is a call; unsubscribing cancels it. Text is given as
 * it comes; with `isBuffered` nobody follows it, and it may come in one piece. Errors only with
 * ModelUnavailable, ModelTimeout or ModelFault (also one of its kinds).
 */
export type Model = { stream(request: ModelRequest, isBuffered?: boolean): Observable<ModelEvent> }

/** A model ready to be called: `name` is its full name, `id` what its provider calls it. */
export type ResolvedModel = {
  model: Model
  name: string
  id: string
  price: Price
  /** What it is given of messages beside their text. */
  takes: ReadonlySet<ContentKind>
}

/** Finds the model for a configured name such as `openai/gpt-5` or `offline/extractive`. */
export type Models = {
  /** Null: the configured default. @throws ModelMisconfigured: the provider is not configured */
  resolve(name: string | null): ResolvedModel
}

/** Credits per million tokens; also micro-credits per token. `list`: where the price is from. */
export type Price = {
  prompt: number
  completion: number
  list?: 'configured' | 'built_in' | 'default' | undefined
}

/** What agents can name as their model, without anything else of the configuration. */
export type ModelOffer = {
  /** The model of agents that name none. */
  byDefault: string
  /** Names that the configuration has. */
  models: readonly { name: string; provider: string }[]
  /** `anyModel`: each name after the provider's is accepted, and the provider decides. */
  providers: readonly { name: string; anyModel: boolean }[]
}
