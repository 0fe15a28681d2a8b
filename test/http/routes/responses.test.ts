import t from 'tap'
import type { Client } from '../../support/client.ts'
import { startApp, startChat } from '../../support/server.ts'

const at = '/api/external/v1/responses'
const usage = { prompt_tokens: 7, completion_tokens: 5 }

const respond = (key: Client, body: object, headers: Record<string, string> = {}) =>
  key.ask('POST', at, body, { headers })
const read = (key: Client, id: string, query = '') => key.ask('GET', `${at}/${id}${query}`)

t.test('a response is a turn in the shape of OpenAI', async (t) => {
  const { key, provider } = await startChat(t, { text: 'Four days.', usage })
  const { status, body } = await respond(key, {
    model: 'gpt-4o',
    input: 'How many days?',
    instructions: 'Be brief.',
    metadata: { ticket: '17' },
    max_output_tokens: 50,
    temperature: 0.5,
    top_p: 0.9,
    presence_penalty: 0.5,
    frequency_penalty: -0.5,
    reasoning: { effort: 'low' },
    store: false,
    user: 'ada',
    something: 'unknown',
  })
  t.equal(status, 200)
  t.match(body.id, /^resp_[\da-f-]{36}$/)
  const run = body.id.slice(5)
  t.strictSame(body, {
    id: body.id,
    object: 'response',
    created_at: body.created_at,
    completed_at: body.completed_at,
    status: 'completed',
    error: null,
    incomplete_details: null,
    output: [
      {
        type: 'message',
        id: `msg_${run}`,
        status: 'completed',
        role: 'assistant',
        content: [{ type: 'output_text', text: 'Four days.', annotations: [], logprobs: [] }],
      },
    ],
    usage: {
      input_tokens: 7,
      input_tokens_details: { cached_tokens: 0 },
      output_tokens: 5,
      output_tokens_details: { reasoning_tokens: 0 },
      total_tokens: 12,
    },
    conversation: body.conversation,
    model: 'gpt-4o',
    background: false,
    frequency_penalty: -0.5,
    instructions: 'Be brief.',
    max_output_tokens: 50,
    max_tool_calls: null,
    metadata: { ticket: '17' },
    parallel_tool_calls: true,
    presence_penalty: 0.5,
    previous_response_id: null,
    prompt_cache_key: null,
    reasoning: { effort: 'low', summary: null },
    safety_identifier: null,
    service_tier: 'default',
    store: false,
    temperature: 0.5,
    text: { format: { type: 'text' } },
    tool_choice: 'auto',
    tools: [],
    top_logprobs: 0,
    top_p: 0.9,
    truncation: 'auto',
  })
  t.ok(Number.isInteger(body.created_at))
  const [sent] = provider.requests
  t.match(sent?.body, {
    max_completion_tokens: 50,
    temperature: 0.5,
    top_p: 0.9,
    presence_penalty: 0.5,
    frequency_penalty: -0.5,
    reasoning_effort: 'low',
  })
  const lines = sent?.body.messages.map(({ role, content }) => `${role}: ${content}`)
  t.ok(lines?.some((line) => line.includes('Be brief.')))
  t.equal(lines?.at(-1), 'user: How many days?')
  const again = await read(key, body.id)
  t.equal(again.status, 200)
  t.strictSame(again.body, body)
  const messages = await key.messages(body.conversation.id)
  t.strictSame(
    messages.body.messages.map(({ content }: { content: string }) => content),
    ['How many days?', 'Four days.'],
    'it is a turn of its session',
  )
})

t.test('items of the input become the messages of the turn', async (t) => {
  const { key, provider } = await startChat(t)
  const messagesFor = async (input: unknown) => {
    const reply = await respond(key, { input })
    t.equal(reply.status, 200, JSON.stringify(reply.body))
    const messages = provider.requests.at(-1)?.body.messages ?? []
    return messages
      .slice(messages.findIndex(({ role }) => role !== 'system'))
      .map((message) => message)
  }
  t.match(await messagesFor([{ role: 'user', content: 'Hi' }]), [{ role: 'user', content: 'Hi' }])
  t.match(
    await messagesFor([
      { role: 'user', content: [{ type: 'input_text', text: 'One' }] },
      { type: 'reasoning', id: 'rs_1', summary: [] },
      {
        type: 'message',
        id: 'msg_1',
        role: 'assistant',
        status: 'completed',
        content: [{ type: 'output_text', text: 'Two', annotations: [] }],
      },
      { role: 'assistant', content: [{ type: 'refusal', refusal: 'No' }] },
      { type: 'message', role: 'user', content: 'Three' },
      { role: 'user', content: [{ type: 'input_text', text: 'Four' }] },
    ]),
    [
      { role: 'user', content: 'One' },
      { role: 'assistant', content: 'Two' },
      { role: 'assistant', content: 'No' },
      { role: 'user', content: 'Three\nFour' },
    ],
    'what the user says last in several items is one message',
  )
  const call = (id: string) => ({
    type: 'function_call',
    call_id: id,
    name: 'f',
    arguments: '{}',
  })
  const output = (id: string) => ({ type: 'function_call_output', call_id: id, output: `of ${id}` })
  t.match(
    await messagesFor([
      { role: 'user', content: 'Go' },
      { role: 'assistant', content: 'Wait' },
      call('a'),
      call('b'),
      output('a'),
      output('b'),
      { role: 'developer', content: 'Be brief' },
      call('c'),
      output('c'),
      { role: 'user', content: 'Well?' },
    ]),
    [
      { role: 'user', content: 'Go' },
      { role: 'assistant', content: 'Wait', tool_calls: [{ id: 'a' }, { id: 'b' }] },
      { role: 'tool', tool_call_id: 'a', content: 'of a' },
      { role: 'tool', tool_call_id: 'b', content: 'of b' },
      { role: 'assistant', tool_calls: [{ id: 'c' }] },
      { role: 'tool', tool_call_id: 'c', content: 'of c' },
      { role: 'user', content: 'Well?' },
    ],
    'calls of one answer stay together',
  )
})

t.test('unsupported or invalid fields are refused by name', async (t) => {
  const { key, provider } = await startChat(t)
  const function_ = { type: 'function', name: 'f' }
  const cases: [object, string, string][] = [
    [{}, 'missing_required_field', 'input'],
    [{ input: [] }, 'missing_required_field', 'input'],
    [{ input: 7 }, 'invalid_input', 'input'],
    [{ input: [{ role: 'assistant', content: 'Hi' }] }, 'missing_required_field', 'input'],
    [{ input: [{ role: 'tool', content: 'Hi' }] }, 'invalid_input', 'input.0.role'],
    [{ input: [{ type: 'unheard_of' }] }, 'invalid_input', 'input.0.type'],
    [{ input: [{ type: 'web_search_call' }] }, 'unsupported_parameter', 'input.0.type'],
    [
      { input: [{ role: 'user', content: [{ type: 'input_video' }] }] },
      'invalid_input',
      'input.0.content.0.type',
    ],
    [
      { input: [{ type: 'function_call', call_id: 'a' }] },
      'missing_required_field',
      'input.0.name',
    ],
    [{ tools: [{ type: 'web_search' }] }, 'unsupported_parameter', 'tools.0.type'],
    [{ tools: [{ type: 'mcp', server_url: 'x' }] }, 'unsupported_parameter', 'tools.0.type'],
    [{ tools: [{ type: 'function' }] }, 'missing_required_field', 'tools.0.name'],
    [{ tools: [function_, function_] }, 'invalid_tool', 'tools'],
    [{ tool_choice: { type: 'function', name: 'g' } }, 'invalid_input', 'tool_choice'],
    [{ tool_choice: { type: 'web_search' } }, 'invalid_input', 'tool_choice'],
    [{ include: ['message.output_text.logprobs'] }, 'unsupported_parameter', 'include.0'],
    [{ top_logprobs: 3 }, 'unsupported_parameter', 'top_logprobs'],
    [{ text: { verbosity: 'brief' } }, 'invalid_input', 'text.verbosity'],
    [{ prompt: { id: 'pmpt_1' } }, 'unsupported_parameter', 'prompt'],
    [{ max_tool_calls: 3 }, 'unsupported_parameter', 'max_tool_calls'],
    [
      { text: { format: { type: 'json_schema', name: 'a', schema: { type: 7 } } } },
      'invalid_input',
      'text.format.schema',
    ],
    [{ temperature: 3 }, 'invalid_input', 'temperature'],
    [{ presence_penalty: 3 }, 'invalid_input', 'presence_penalty'],
    [{ frequency_penalty: -3 }, 'invalid_input', 'frequency_penalty'],
    [{ truncation: 'some' }, 'invalid_input', 'truncation'],
    [{ store: 'no' }, 'invalid_input', 'store'],
    [{ prompt_cache_key: 'x'.repeat(513) }, 'invalid_input', 'prompt_cache_key'],
    [{ max_output_tokens: 0 }, 'invalid_input', 'max_output_tokens'],
    [{ metadata: { a: 7 } }, 'invalid_input', 'metadata.a'],
    [{ conversation: 'a b' }, 'invalid_input', 'conversation'],
    [
      { conversation: 'a', previous_response_id: 'resp_1' },
      'invalid_input',
      'previous_response_id',
    ],
    [{ model: 7 }, 'invalid_input', 'model'],
  ]
  for (const [wrong, code, param] of cases) {
    const sent =
      'input' in wrong || Object.keys(wrong).length === 0 ? wrong : { input: 'Hi', ...wrong }
    const reply = await respond(key, sent)
    t.match(reply, { status: 400, body: { error: { code, param } } }, JSON.stringify(wrong))
  }
  t.equal(provider.requests.length, 0)
  const harmless = {
    input: 'Hi',
    tools: null,
    include: ['reasoning.encrypted_content'],
    text: { format: { type: 'text' }, verbosity: 'medium' },
    reasoning: { effort: null, summary: 'detailed', generate_summary: 'concise' },
    truncation: 'disabled',
    prompt_cache_key: 'x',
    safety_identifier: 'y',
    service_tier: 'auto',
    stream_options: { include_obfuscation: false },
    context_management: [],
  }
  const reply = await respond(key, harmless)
  t.match(reply, { status: 200, body: { store: true, truncation: 'disabled' } })
})

t.test('other paths of the Responses API are unknown, for every method', async (t) => {
  const { key } = await startChat(t)
  for (const path of ['compact', 'input_tokens', 'compact/', 'compact?a=b'])
    for (const method of ['POST', 'GET', 'PUT'])
      t.match(await key.ask(method, `${at}/${path}`), { status: 404 }, `${method} ${path}`)
  t.match(await key.ask('PUT', `${at}/resp_1`), { status: 405, body: { error: { param: null } } })
})

t.test('the model receives only the allowed tools, and no other is called', async (t) => {
  const { key, provider } = await startChat(t)
  const tools = ['f', 'g', 'h'].map((name) => ({ type: 'function', name }))
  const allowed = (names: readonly string[], mode?: string) => ({
    type: 'allowed_tools',
    ...(mode ? { mode } : {}),
    tools: names.map((name) => ({ type: 'function', name })),
  })
  const respondWith = async (tool_choice: object) => {
    const reply = await respond(key, { input: 'Hi', tools, tool_choice })
    t.equal(reply.status, 200, JSON.stringify(reply.body))
    return reply.body
  }
  const choice = () => provider.requests.at(-1)?.body.tool_choice
  const names = () => {
    const sent = provider.requests.at(-1)?.body.tools
    return Array.isArray(sent) ? sent.map((tool) => tool.function.name) : undefined
  }

  const auto = await respondWith(allowed(['f', 'h']))
  t.strictSame(names(), ['f', 'h'])
  t.equal(choice(), undefined)
  t.strictSame(auto.tool_choice, allowed(['f', 'h'], 'auto'), 'the answer repeats it')
  t.equal(auto.tools.length, 3)
  t.strictSame((await read(key, auto.id)).body, auto)

  await respondWith(allowed(['g'], 'required'))
  t.strictSame(names(), ['g'])
  t.equal(choice(), 'required')

  await respondWith(allowed(['g'], 'none'))
  t.equal(names(), undefined)

  provider.next({ calls: [{ name: 'g', arguments: {} }] })
  provider.next({ text: 'Then not.' })
  const { status, output } = await respondWith(allowed(['f']))
  t.match({ status, output }, { status: 'completed', output: [{ type: 'message' }] })
  t.equal(output.length, 1, 'a call of another tool is not told to the client')

  for (const wrong of [allowed(['x']), allowed([], 'required'), allowed(['f'], 'any')])
    t.match(await respond(key, { input: 'Hi', tools, tool_choice: wrong }), {
      status: 400,
      body: { error: { code: 'invalid_input', param: /^tool_choice/ } },
    })
})

t.test('a response goes on where another one ended', async (t) => {
  const { key, provider } = await startChat(t, { text: 'Four.' })
  const first = (await respond(key, { input: 'How many?' })).body
  const next = await respond(key, { input: 'Sure?', previous_response_id: first.id })
  t.match(next.body, {
    conversation: first.conversation,
    previous_response_id: first.id,
    status: 'completed',
  })
  const messages = provider.requests.at(-1)?.body.messages.filter(({ role }) => role !== 'system')
  t.strictSame(
    messages?.map(({ content }) => content),
    ['How many?', 'Four.', 'Sure?'],
  )
  const named = await respond(key, { input: 'Really?', conversation: first.conversation })
  t.match(named.body, { conversation: first.conversation, status: 'completed' })
  const own = await respond(key, { input: 'Hi', conversation: 'mine' })
  t.strictSame(own.body.conversation, { id: 'mine' })

  const branch = (await respond(key, { input: 'Hm', previous_response_id: first.id })).body
  t.not(branch.conversation.id, first.conversation.id, 'from an older one it goes on in a fork')
  t.strictSame(
    provider.requests
      .at(-1)
      ?.body.messages.filter(({ role }) => role !== 'system')
      .map(({ content }) => content),
    ['How many?', 'Four.', 'Hm'],
    'without what was said later',
  )
  const session = await key.ask('GET', `/api/external/sessions/${branch.conversation.id}`)
  t.equal(session.body.forked_from, first.conversation.id)
  const output = { type: 'function_call_output', call_id: 'call_1', output: 'x' }
  t.match(
    await respond(key, { input: [output], previous_response_id: first.id }),
    {
      status: 409,
      body: { error: { code: 'response_continued', param: 'previous_response_id' } },
    },
    'calls wait in the session alone',
  )
  for (const id of ['resp_1', 'nonsense', `resp_${'0'.repeat(8)}-0000-0000-0000-${'0'.repeat(12)}`])
    t.match(
      await respond(key, { input: 'Hm', previous_response_id: id }),
      {
        status: 404,
        body: { error: { code: 'response_not_found', param: 'previous_response_id' } },
      },
      id,
    )
})

t.test('a model names the agent that answers', async (t) => {
  const { key, provider, organization } = await startChat(t)
  const agent = await organization.agent({ name: 'Poet', instruction: 'Only in rhymes.' })
  const reply = await respond(key, { input: 'Hi', model: agent })
  t.equal(reply.body.model, agent)
  t.match(provider.requests[0]?.body.messages[0]?.content, /rhymes/)
})

t.test('an answer by a schema, one that is cut off, one that fails', async (t) => {
  const { key, provider } = await startChat(t)
  const schema = { type: 'object', properties: { n: { type: 'integer' } }, required: ['n'] }
  const text = { format: { type: 'json_schema', name: 'answer', schema, strict: true } }
  provider.next({ text: '{"n": 4}' })
  const fitting = await respond(key, { input: 'How many?', text })
  t.equal(fitting.body.output[0].content[0].text, '{"n": 4}')
  t.strictSame(fitting.body.text, { format: { ...text.format, description: null } })
  t.match(provider.requests[0]?.body.response_format, {
    type: 'json_schema',
    json_schema: { name: 'answer', schema, strict: true },
  })

  provider.next({ text: 'Four da', finishReason: 'length' })
  const cut = (await respond(key, { input: 'How many?' })).body
  const incomplete = {
    status: 'incomplete',
    incomplete_details: { reason: 'max_output_tokens' },
    output: [{ status: 'incomplete', content: [{ text: 'Four da' }] }],
  }
  t.match(cut, incomplete)
  t.match((await read(key, cut.id)).body, incomplete)

  provider.next({ status: 401 })
  const failed = await respond(key, { input: 'How many?', conversation: 'unlucky' })
  t.match(failed, { status: 500, body: { error: { code: 'model_misconfigured' } } })
})

t.test('other people have no responses of mine', async (t) => {
  const { key, server, organization } = await startChat(t)
  const { body } = await respond(key, { input: 'Hi' })
  const member = await organization.member()
  const others = {
    'another organization': await (await server.platform.organization()).key(),
    'another key of the organization': await organization.key(),
    'a member': await organization.key({ type: 'user', user_id: member }),
  }
  for (const [who, other] of Object.entries(others)) {
    const refused = { status: 404, body: { error: { code: 'response_not_found' } } }
    t.match(await read(other, body.id), refused, who)
    if (who === 'a member') continue
    t.match(await respond(other, { input: 'Hi', previous_response_id: body.id }), refused, who)
    const reference = [{ id: body.output[0].id }, { role: 'user', content: 'Hm' }]
    t.match(await respond(other, { input: reference }), refused, who)
  }
  const owner = await organization.key({ type: 'user' })
  t.equal((await read(owner, body.id)).status, 200, 'the owner’s own key sees it')

  const scopes = ['orchestrator:invoke', 'sessions:messages', 'users:delegate']
  const delegate = await organization.key({ scopes })
  const delegated = await respond(delegate, { input: 'Hi', on_behalf_of: member })
  t.equal(delegated.status, 200)
  t.match(await read(delegate, delegated.body.id), { status: 404 })
  t.equal((await read(delegate, delegated.body.id, `?on_behalf_of=${member}`)).status, 200)
  t.equal((await read(others['a member'], delegated.body.id)).status, 200)
  t.match(await read(key, 'resp_1'), {
    status: 404,
    body: { error: { code: 'response_not_found' } },
  })
})

t.test('scopes, credits and repeated requests are those of chat', async (t) => {
  const { key, provider, organization, server } = await startChat(t)
  const reader = await organization.key({ scopes: ['sessions:messages'] })
  t.match(await respond(reader, { input: 'Hi' }), { status: 403, code: 'insufficient_scopes' })
  const asker = await organization.key({ scopes: ['orchestrator:invoke'] })
  t.match(await respond(asker, { input: 'Hi', stream: true }), { code: 'insufficient_scopes' })
  t.match(await respond(asker, { input: 'Hi', on_behalf_of: 'x' }), { code: 'insufficient_scopes' })
  const { body } = await respond(asker, { input: 'Hi' })
  t.match(await read(asker, body.id), { status: 403, code: 'insufficient_scopes' })

  const spent = await server.platform.organization({ credits: 0 })
  const grant = { amount: -1, reason: 'spent' }
  await server.platform.ask('POST', `/users/${spent.ownerId}/credits`, grant)
  const poor = await spent.key()
  t.match(await respond(poor, { input: 'Hi' }), { status: 402, code: 'insufficient_credits' })
  const free = await (await server.platform.organization({ plan: null })).key()
  t.match(await respond(free, { input: 'Hi' }), { status: 403, code: 'no_subscription' })

  const before = provider.requests.length
  const once = { 'idempotency-key': 'a' }
  const first = await respond(key, { input: 'Hi' }, once)
  const again = await respond(key, { input: 'Hi' }, once)
  t.strictSame(again.body, first.body)
  t.equal(again.headers.get('idempotency-replayed'), 'true')
  const retried = await respond(key, { input: 'Ho' }, { 'x-stainless-retry-count': '0' })
  const retry = await respond(key, { input: 'Ho' }, { 'x-stainless-retry-count': '1' })
  t.not(retry.body.conversation.id, retried.body.conversation.id, 'it was delivered')
  t.equal(provider.requests.length - before, 3)
})

t.test('a response is read from what is stored, also after a restart', async (t) => {
  const server = await startApp(t)
  const organization = await server.platform.organization()
  const { key } = await organization.key()
  const { body } = await respond(server.as(key), { input: 'Hi' })
  await server.restart()
  t.strictSame((await read(server.as(key), body.id)).body, body)
})
