import { existsSync, readFileSync } from 'node:fs'
import type OpenAI from 'openai'
import t from 'tap'
import { user } from '../support/client.ts'
import { startChat } from '../support/server.ts'

// A decision for each request field of the package `openai`. The compiler reports a missing one, so
// a field that a newer package adds is decided on here first.

type Responses = OpenAI.Responses.ResponseCreateParams
type Body = Readonly<Record<string, unknown>>

type Decision =
  /** The provider is sent this piece of JSON. */
  | { body: Body; passed: string }
  /** 400 `unsupported_parameter`, with this name in `param`. */
  | { body: Body; refused: string }
  /** It is accepted and changes nothing, which the page says. */
  | { body: Body; ignored: true }
  /** It has tests of its own. */
  | { tested: string }

type Decisions<Type> = Readonly<
  Record<Type extends unknown ? keyof Required<Type> : never, Decision>
>

const json = (value: unknown) => JSON.stringify(value)
const passed = (body: Body, as: Body): Decision => ({ body, passed: json(as).slice(1, -1) })
const asItIs = (body: Body): Decision => passed(body, body)
const refused = (param: string, body: Body): Decision => ({ body, refused: param })
const ignored = (body: Body): Decision => ({ body, ignored: true })
const tested = (file: string): Decision => ({ tested: `test/http/routes/${file}.test.ts` })

const parameters = { type: 'object', properties: { day: { type: 'string' } } }
const look_up = { name: 'look_up', description: 'Looks it up', parameters, strict: true }

const chatFields: Decisions<OpenAI.ChatCompletionCreateParams> = {
  messages: tested('chat'),
  model: tested('models'),
  stream: tested('chat'),
  stream_options: tested('chat'),
  tools: tested('chat-tools'),
  tool_choice: tested('chat-tools'),
  parallel_tool_calls: tested('chat-tools'),
  response_format: tested('chat-formats'),
  temperature: asItIs({ temperature: 0.5 }),
  top_p: asItIs({ top_p: 0.5 }),
  presence_penalty: asItIs({ presence_penalty: 1 }),
  frequency_penalty: asItIs({ frequency_penalty: 1 }),
  seed: asItIs({ seed: 7 }),
  stop: asItIs({ stop: ['END'] }),
  max_tokens: asItIs({ max_tokens: 9 }),
  max_completion_tokens: asItIs({ max_completion_tokens: 9 }),
  reasoning_effort: asItIs({ reasoning_effort: 'max' }),
  verbosity: asItIs({ verbosity: 'low' }),
  n: refused('n', { n: 2 }),
  logprobs: refused('logprobs', { logprobs: true }),
  top_logprobs: refused('top_logprobs', { top_logprobs: 3 }),
  logit_bias: refused('logit_bias', { logit_bias: { 50256: -100 } }),
  modalities: refused('modalities', { modalities: ['text', 'audio'] }),
  audio: refused('audio', { audio: { voice: 'alloy', format: 'mp3' } }),
  functions: refused('functions', { functions: [look_up] }),
  function_call: refused('function_call', { function_call: { name: 'look_up' } }),
  web_search_options: refused('web_search_options', { web_search_options: {} }),
  moderation: refused('moderation', { moderation: { model: 'omni-moderation-latest' } }),
  metadata: ignored({ metadata: { ticket: '17' } }),
  prediction: ignored({ prediction: { type: 'content', content: 'Hello' } }),
  prompt_cache_key: ignored({ prompt_cache_key: 'a' }),
  prompt_cache_options: ignored({ prompt_cache_options: { mode: 'explicit' } }),
  prompt_cache_retention: ignored({ prompt_cache_retention: '24h' }),
  safety_identifier: ignored({ safety_identifier: 'a' }),
  service_tier: ignored({ service_tier: 'flex' }),
  store: ignored({ store: true }),
  user: ignored({ user: 'ada' }),
}

const call = { id: 'call_1', type: 'function', function: { name: 'look_up', arguments: '{}' } }
const answer = { role: 'tool', content: 'Rain', tool_call_id: 'call_1' }
const before = (...messages: readonly object[]) => ({ messages: [...messages, ...user('Hi')] })

const messageFields: Decisions<
  Exclude<OpenAI.ChatCompletionMessageParam, OpenAI.ChatCompletionFunctionMessageParam>
> = {
  role: tested('chat'),
  content: tested('chat'),
  name: ignored({ messages: [{ role: 'user', content: 'Hi', name: 'Ada' }] }),
  refusal: passed(before({ role: 'assistant', content: null, refusal: 'That I cannot say.' }), {
    role: 'assistant',
    content: 'That I cannot say.',
  }),
  tool_calls: passed(before({ role: 'assistant', tool_calls: [call] }, answer), {
    tool_calls: [call],
  }),
  tool_call_id: passed(before({ role: 'assistant', tool_calls: [call] }, answer), {
    tool_call_id: 'call_1',
  }),
  audio: refused('messages.0.audio', before({ role: 'assistant', audio: { id: 'audio_1' } })),
  function_call: refused(
    'messages.0.function_call',
    before({ role: 'assistant', content: null, function_call: { name: 'f', arguments: '{}' } }),
  ),
}

const prompt_cache_breakpoint = { mode: 'explicit' }

const partFields: Decisions<OpenAI.ChatCompletionContentPart> = {
  type: tested('chat-parts'),
  text: tested('chat'),
  image_url: tested('chat-parts'),
  input_audio: tested('chat-parts'),
  file: tested('chat-parts'),
  prompt_cache_breakpoint: ignored({
    messages: [{ role: 'user', content: [{ type: 'text', text: 'Hi', prompt_cache_breakpoint }] }],
  }),
}

const offered = { tools: [{ type: 'function', function: look_up }] }

const functionFields: Decisions<OpenAI.FunctionDefinition> = {
  name: passed(offered, { name: 'look_up' }),
  description: passed(offered, { description: 'Looks it up' }),
  parameters: passed(offered, { parameters }),
  strict: passed(offered, { strict: true }),
}

const responseFields: Decisions<Responses> = {
  input: tested('responses'),
  model: tested('responses'),
  stream: tested('responses-streams'),
  background: tested('response-reads'),
  conversation: tested('responses'),
  previous_response_id: tested('responses'),
  tools: tested('responses'),
  tool_choice: tested('responses'),
  parallel_tool_calls: tested('responses'),
  instructions: { body: { instructions: 'Be brief.' }, passed: 'Be brief.' },
  text: passed({ text: { verbosity: 'low' } }, { verbosity: 'low' }),
  temperature: asItIs({ temperature: 0.5 }),
  top_p: asItIs({ top_p: 0.5 }),
  max_output_tokens: passed({ max_output_tokens: 9 }, { max_completion_tokens: 9 }),
  reasoning: passed({ reasoning: { effort: 'low' } }, { reasoning_effort: 'low' }),
  include: refused('include.0', { include: ['message.output_text.logprobs'] }),
  top_logprobs: refused('top_logprobs', { top_logprobs: 3 }),
  prompt: refused('prompt', { prompt: { id: 'pmpt_1' } }),
  context_management: refused('context_management', {
    context_management: [{ type: 'compaction' }],
  }),
  moderation: refused('moderation', { moderation: { model: 'omni-moderation-latest' } }),
  metadata: ignored({ metadata: { ticket: '17' } }),
  prompt_cache_key: ignored({ prompt_cache_key: 'a' }),
  prompt_cache_options: ignored({ prompt_cache_options: { mode: 'explicit' } }),
  prompt_cache_retention: ignored({ prompt_cache_retention: '24h' }),
  safety_identifier: ignored({ safety_identifier: 'a' }),
  service_tier: ignored({ service_tier: 'flex' }),
  store: ignored({ store: false }),
  stream_options: ignored({ stream_options: { include_obfuscation: false } }),
  truncation: ignored({ truncation: 'disabled' }),
  user: ignored({ user: 'ada' }),
}

const reasoningFields: Decisions<OpenAI.Reasoning> = {
  effort: passed({ reasoning: { effort: 'max' } }, { reasoning_effort: 'max' }),
  summary: ignored({ reasoning: { summary: 'detailed' } }),
  generate_summary: ignored({ reasoning: { generate_summary: 'concise' } }),
  context: refused('reasoning.context', { reasoning: { context: 'all_turns' } }),
  mode: refused('reasoning.mode', { reasoning: { mode: 'pro' } }),
}

const textFields: Decisions<OpenAI.Responses.ResponseTextConfig> = {
  format: passed({ text: { format: { type: 'json_object' } } }, { type: 'json_object' }),
  verbosity: passed({ text: { verbosity: 'high' } }, { verbosity: 'high' }),
}

const toolWith = (fields: object) => ({ tools: [{ type: 'function', ...look_up, ...fields }] })

const toolFields: Decisions<OpenAI.Responses.FunctionTool> = {
  type: refused('tools.0.type', { tools: [{ type: 'web_search' }] }),
  name: passed(toolWith({}), { name: 'look_up' }),
  description: passed(toolWith({}), { description: 'Looks it up' }),
  parameters: passed(toolWith({}), { parameters }),
  strict: passed(toolWith({}), { strict: true }),
  allowed_callers: refused(
    'tools.0.allowed_callers',
    toolWith({ allowed_callers: ['programmatic'] }),
  ),
  defer_loading: ignored(toolWith({ defer_loading: true })),
  output_schema: ignored(toolWith({ output_schema: { type: 'string' } })),
}

type Tables = Readonly<Record<string, Readonly<Record<string, Decision>>>>

const apis = [
  {
    path: '/api/external/v1/chat/completions',
    bare: { messages: user('Hi') },
    pages: ['chat', 'message-files', 'client-tools'],
    tables: { chatFields, messageFields, partFields, functionFields } satisfies Tables,
  },
  {
    path: '/api/external/v1/responses',
    bare: { input: 'Hi' },
    pages: ['responses'],
    tables: { responseFields, reasoningFields, textFields, toolFields } satisfies Tables,
  },
]

for (const { path, bare, pages, tables } of apis)
  t.test(`${path} drops no field of the package openai in silence`, async (t) => {
    const { key, provider } = await startChat(t, { text: '{}' })
    const text = pages.map((page) => readFileSync(`docs/contract/${page}.md`, 'utf8')).join('\n')
    const code = [...text.matchAll(/`+([^`]+)`+/g)].map(([, match = '']) => match)
    const named = new Set(code.flatMap((span) => span.match(/\w+/g) ?? []))
    const send = async (body: object) => {
      const reply = await key.ask('POST', path, { ...bare, ...body })
      return { reply, sent: json(provider.requests.splice(0).map((request) => request.body)) }
    }
    const plain = (await send({})).sent
    for (const [table, fields] of Object.entries<Tables[string]>(tables))
      for (const [field, decision] of Object.entries(fields)) {
        const what = `${table}: ${field}`
        t.ok(named.has(field), `${what} is in ${pages.join(', ')}`)
        if ('tested' in decision) {
          t.ok(existsSync(decision.tested), what)
          continue
        }
        const { reply, sent } = await send(decision.body)
        if ('refused' in decision) {
          const error = { code: 'unsupported_parameter', param: decision.refused }
          t.match(reply, { status: 400, body: { error } }, what)
          t.equal(sent, '[]', `${what}: no model is asked`)
        } else {
          t.equal(reply.status, 200, `${what}: ${json(reply.body)}`)
          if ('passed' in decision) t.ok(sent.includes(decision.passed), `${what}: ${sent}`)
          else if (!('tools' in decision.body)) t.equal(sent, plain, what)
        }
      }
  })
