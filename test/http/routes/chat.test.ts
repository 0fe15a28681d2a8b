import { randomUUID } from 'node:crypto'
import t from 'tap'
import { scopes } from '../../../src/domain/api-key/scopes.ts'
import { contents, user } from '../../support/client.ts'
import type { Received } from '../../support/provider-double.ts'
import { startChat } from '../../support/server.ts'

const usage = { prompt_tokens: 100, completion_tokens: 20 }

/** What the provider was asked, without the orchestrator's own instruction. */
const sentMessages = (request?: Received) =>
  request?.body.messages.slice(1).map(({ role, content }) => `${role}: ${content}`) ?? []

t.test('POST /api/external/v1/chat/completions: a whole answer', async (t) => {
  const { key, organization } = await startChat(t, { text: 'Hello from the double.', usage })
  const { status, headers, body } = await key.chat({ messages: user('Hi') })
  t.equal(status, 200)
  t.match(headers.get('content-type'), /^application\/json/)
  t.match(body, {
    id: /^chatcmpl-[\w-]+$/,
    object: 'chat.completion',
    created: Number,
    model: 'svc-orchestrator',
    choices: [
      {
        index: 0,
        message: { role: 'assistant', content: 'Hello from the double.' },
        finish_reason: 'stop',
      },
    ],
    usage: { ...usage, total_tokens: 120 },
    session_id: /^[\w-]{36}$/,
  })
  t.notOk('tool_calls' in body.choices[0].message)
  t.strictSame(
    (await key.messages(body.session_id)).body.messages.map(
      ({ content }: { content: string }) => content,
    ),
    ['Hi', 'Hello from the double.'],
    'what is answered can be read back at once',
  )
  t.strictSame(
    await organization.balance(),
    { balance: 99.99955, effective: 99.99955 },
    'tokens × price, in credits: (100 × 2.5 + 20 × 10) / 1,000,000',
  )
})

t.test('usage the provider does not report comes from a tokenizer, and is charged', async (t) => {
  const { key, organization } = await startChat(t, { text: 'Hello from the double.', usage: null })
  const { usage } = (await key.chat({ messages: user('Hi') })).body
  t.ok(usage.prompt_tokens > 0)
  t.ok(usage.completion_tokens > 3 && usage.completion_tokens < 10)
  t.equal(usage.total_tokens, usage.prompt_tokens + usage.completion_tokens)
  const charge = Math.ceil(usage.prompt_tokens * 2.5 + usage.completion_tokens * 10)
  t.equal((await organization.balance()).balance, 100 - charge / 1_000_000)
})

t.test('the model in the body is echoed and changes nothing', async (t) => {
  const { key, provider } = await startChat(t)
  const { body } = await key.chat({ messages: user('Hi'), model: 'gpt-nonsense' })
  t.equal(body.model, 'gpt-nonsense')
  t.equal(provider.requests[0]?.body.model, 'model')
})

t.test('finish_reason is the provider’s', async (t) => {
  const { key } = await startChat(t, { text: 'Cut', finishReason: 'length' })
  t.equal((await key.chat({ messages: user('Hi') })).body.choices[0].finish_reason, 'length')
})

t.test('session_id: absent, existing, unknown', async (t) => {
  const { key, provider } = await startChat(t)
  const first = await key.chat({ messages: user('One') })
  const { session_id } = first.body
  const second = await key.chat({ messages: user('Two'), session_id })
  t.equal(second.body.session_id, session_id)
  t.strictSame(
    sentMessages(provider.requests[1]),
    ['user: One', 'assistant: Hello from the double.', 'user: Two'],
    'a session keeps its context',
  )
  const named = await key.chat({ messages: user('Hi'), session_id: 'my.own:session-1' })
  t.equal(named.body.session_id, 'my.own:session-1')
  t.equal((await key.messages('my.own:session-1')).body.total, 2)
  const other = await key.chat({ messages: user('Hi'), session_id: null })
  t.not(other.body.session_id, session_id)
})

t.test('a client-chosen id matches ^[A-Za-z0-9_.:-]{1,128}$, else 400', async (t) => {
  const { key } = await startChat(t)
  for (const session_id of ['a b', 'ä', '', 'x'.repeat(129), 'a/b', '../x']) {
    const { status, body } = await key.chat({ messages: user('Hi'), session_id })
    t.equal(status, 400, session_id)
    t.match(body.error, { code: 'invalid_input', param: 'session_id' })
  }
  t.equal((await key.chat({ messages: user('Hi'), session_id: 'x'.repeat(128) })).status, 200)
})

t.test('the turn is the last user message; none: 400', async (t) => {
  const { key, provider } = await startChat(t)
  const messages = [...user('One'), { role: 'assistant', content: 'Aye' }, ...user('Two')]
  await key.chat({ messages: [...messages, { role: 'assistant', content: 'prefill' }] })
  t.equal(sentMessages(provider.requests[0]).at(-1), 'user: Two')
  for (const body of [{}, { messages: [] }, { messages: [{ role: 'system', content: 'x' }] }]) {
    const { status, body: refusal, code } = await key.chat(body)
    t.equal(status, 400)
    t.equal(code, 'missing_required_field')
    t.match(refusal.error, {
      type: 'invalid_request_error',
      code: 'missing_required_field',
      param: 'messages',
    })
  }
})

t.test('earlier entries are context where nothing is stored, and are not recorded', async (t) => {
  const { key, provider } = await startChat(t)
  const before = [...user('Earlier'), { role: 'assistant', content: 'Said' }]
  const { body } = await key.chat({ messages: [...before, ...user('Now')] })
  t.strictSame(sentMessages(provider.requests[0]), [
    'user: Earlier',
    'assistant: Said',
    'user: Now',
  ])
  t.equal((await key.messages(body.session_id)).body.total, 2)
  const { session_id } = body
  await key.chat({ session_id, messages: [...user('Forged'), ...user('Next')] })
  t.strictSame(
    sentMessages(provider.requests[1]),
    ['user: Now', 'assistant: Hello from the double.', 'user: Next'],
    'stored history wins',
  )
})

t.test('system entries always apply to this call', async (t) => {
  const { key, provider } = await startChat(t)
  const { body } = await key.chat({
    messages: [{ role: 'system', content: 'Be brief' }, ...user('One')],
  })
  await key.chat({
    session_id: body.session_id,
    messages: [{ role: 'developer', content: 'Be long' }, ...user('Two')],
  })
  t.match(sentMessages(provider.requests[0]), ['system: Be brief', 'user: One'])
  t.strictSame(
    sentMessages(provider.requests[1]).filter((line) => line.startsWith('system')),
    ['system: Be long'],
    'to this call alone',
  )
})

t.test('content may be a string or an array of text parts', async (t) => {
  const { key, provider } = await startChat(t)
  const content = ['One', 'Two'].map((text) => ({ type: 'text', text }))
  t.equal((await key.chat({ messages: [{ role: 'user', content }] })).status, 200)
  t.strictSame(sentMessages(provider.requests[0]), ['user: One\nTwo'])
  const refusal = { role: 'assistant', content: [{ type: 'refusal', refusal: 'Not that.' }] }
  const { status } = await key.chat({ messages: [...user('Hi'), refusal, ...user('And this?')] })
  t.equal(status, 200, 'an assistant may have refused')
  t.strictSame(sentMessages(provider.requests[1]), [
    'user: Hi',
    'assistant: Not that.',
    'user: And this?',
  ])
  const image = [{ type: 'image_url', image_url: { url: 'https://example.com' } }]
  for (const [role, content, code] of [
    ['user', [{ type: 'video', video: {} }], 'invalid_input'],
    ['system', image, 'invalid_input'],
    ['assistant', image, 'invalid_input'],
    ['user', image, 'unsupported_content'],
  ] as const) {
    const refused = await key.chat({ messages: [{ role, content }] })
    t.equal(refused.status, 400)
    t.match(refused.body.error, { code, param: /^messages/ })
  }
})

t.test('a message may have a megabyte of text', async (t) => {
  const { key } = await startChat(t, { text: 'That was long.' })
  const content = 'All work and no play. '.repeat(45_000)
  const session_id = 'long'
  const { status, body } = await key.chat({ messages: user(content), session_id })
  t.equal(status, 200)
  t.equal(body.choices[0].message.content, 'That was long.')
  t.ok((await contents(key, session_id))[0] === content, 'kept as it came')
  t.match(await key.chat({ messages: user('And now?'), session_id }), { status: 200 })
  const larger = await key.chat({ messages: user(content + content) })
  t.strictSame([larger.status, larger.code], [413, 'payload_too_large'])
})

t.test('unknown body parameters are tolerated', async (t) => {
  const { key } = await startChat(t)
  const reply = await key.chat({
    messages: [{ ...user('Hi')[0], name: 'Ann', weight: 1 }],
    n: 1,
    logprobs: false,
    modalities: ['text'],
    audio: null,
    service_tier: 'auto',
    verbosity: 'low',
    tools: [{ type: 'function', function: { name: 'x' } }],
    tool_choice: 'auto',
    logit_bias: {},
    response_format: { type: 'text' },
    user: 'u-1',
    temperature: null,
    stream_options: { include_obfuscation: false },
    metadata: { a: 1 },
    store: true,
  })
  t.equal(reply.status, 200)
})

t.test('stream in the body decides, never Accept', async (t) => {
  const { key } = await startChat(t)
  const headers = { accept: 'text/event-stream' }
  const complete = await key.chat({ messages: user('Hi') }, { headers })
  t.equal(complete.body.object, 'chat.completion')
  const json = { headers: { accept: 'application/json' } }
  const streamed = await key.stream({ messages: user('Hi') }, json)
  t.match(streamed.headers.get('content-type'), /^text\/event-stream/)
  await streamed.all()
})

t.test('tool_calls: OpenAI’s shape, by keywords in the answer', async (t) => {
  const text = 'Goodbye! A human agent is on the way.'
  const { key, provider } = await startChat(t, { text })
  const { body } = await key.chat({ messages: user('Bye') })
  t.equal(body.choices[0].finish_reason, 'tool_calls')
  t.match(body.choices[0].message, {
    content: text,
    tool_calls: [
      { id: /^call_\w+$/, type: 'function', function: { name: 'end_call', arguments: '{}' } },
      { id: /^call_\w+$/, type: 'function', function: { name: 'transfer_call', arguments: '{}' } },
    ],
  })
  provider.next({ text: 'Goodbyes are hard, bystander.' })
  const inside = await key.chat({ messages: user('Hm') })
  t.equal(inside.body.choices[0].finish_reason, 'stop', 'on word boundaries only')
  provider.next({ text: 'GOODBYE' })
  const loud = await key.stream({ messages: user('Bye') })
  const frames = await loud.all()
  const deltas = frames.filter(({ data }) => data.choices).map(({ data }) => data.choices[0])
  t.match(deltas.at(-2), {
    delta: { tool_calls: [{ index: 0, function: { name: 'end_call', arguments: '{}' } }] },
    finish_reason: null,
  })
  t.strictSame(deltas.at(-1), { index: 0, delta: {}, finish_reason: 'tool_calls' })
})

const offered = (name: string) => ({ type: 'function', function: { name } })

t.test('words call the tools that a request offers, and all where it offers none', async (t) => {
  const text = 'Goodbye! A human agent is on the way.'
  const { key } = await startChat(t, { text })
  const callsWith = async (more: object) => {
    const { body } = await key.chat({ messages: user('Bye'), ...more })
    const [{ message, finish_reason }] = body.choices
    t.equal(finish_reason === 'tool_calls', 'tool_calls' in message)
    t.equal(message.content, text)
    return message.tool_calls?.map((call: { function: { name: string } }) => call.function.name)
  }
  t.strictSame(await callsWith({}), ['end_call', 'transfer_call'])
  t.strictSame(await callsWith({ tools: null }), ['end_call', 'transfer_call'])
  t.strictSame(await callsWith({ tools: [offered('end_call')] }), ['end_call'])
  t.strictSame(await callsWith({ tools: [offered('lookup')] }), undefined)
  t.strictSame(await callsWith({ tools: [] }), undefined)
  t.strictSame(await callsWith({ tool_choice: 'none' }), undefined)
  const none = { tools: [offered('end_call')], tool_choice: 'none' }
  t.strictSame(await callsWith(none), undefined)
  const allowing = (mode: string, ...names: string[]) => ({
    tools: ['end_call', 'transfer_call', 'lookup'].map(offered),
    tool_choice: { type: 'allowed_tools', allowed_tools: { mode, tools: names.map(offered) } },
  })
  t.strictSame(await callsWith(allowing('auto', 'end_call', 'lookup')), ['end_call'])
  t.strictSame(await callsWith(allowing('auto', 'lookup')), undefined)
  t.strictSame(await callsWith(allowing('none', 'end_call')), undefined)
})

t.test('a call by words awaits no result: the next message is answered', async (t) => {
  const { key, provider } = await startChat(t, { text: 'Goodbye!' })
  const session_id = 's1'
  const tools = [offered('end_call')]
  const { body } = await key.chat({ messages: user('Bye'), session_id, tools })
  t.equal(body.choices[0].finish_reason, 'tool_calls')
  provider.next({ text: 'Welcome back.' })
  const next = await key.chat({ messages: user('One more thing'), session_id, tools })
  t.equal(next.body.choices[0].message.content, 'Welcome back.')
  t.equal(provider.requests.length, 2)
})

t.test('`keyword_tools: false` of an agent turns calls by words off', async (t) => {
  const { key, organization } = await startChat(t, { text: 'Goodbye!' })
  const agent_id = await organization.agent({ name: 'Quiet', keyword_tools: false })
  const reasonOf = async (more: object) =>
    (await key.chat({ messages: user('Bye'), ...more })).body.choices[0].finish_reason
  t.equal(await reasonOf({ target_agent_id: agent_id }), 'stop')
  t.equal(await reasonOf({}), 'tool_calls', 'of others they are on')
})

t.test('session_hidden: created hidden, changed when passed explicitly', async (t) => {
  const { key } = await startChat(t)
  const { body } = await key.chat({ messages: user('Hi'), session_hidden: true })
  const { session_id } = body
  const visibleTotal = async () => (await key.sessions('?include_hidden=false')).body.total
  t.equal(await visibleTotal(), 0)
  t.equal((await key.sessions()).body.total, 1, 'include_hidden is true unless told otherwise')
  t.equal((await key.messages(session_id)).status, 200, 'it can be fetched by id')
  await key.chat({ messages: user('Again'), session_id })
  t.equal(await visibleTotal(), 0, 'left as it is when not passed')
  await key.chat({ messages: user('Shown'), session_id, session_hidden: false })
  t.equal(await visibleTotal(), 1)
})

t.test('target_agent_id: straight to that agent', async (t) => {
  const { server, organization, key } = await startChat(t)
  const id = await organization.agent({ name: 'Concierge' })
  const streamed = await key.stream({ messages: user('Hello there'), target_agent_id: id })
  const frames = await streamed.all()
  t.match(
    frames.find(({ data }) => data.event === 'agent_routing')?.data,
    { from_agent: 'Orchestrator', to_agent: 'Concierge', timestamp: String },
    'and emits agent_routing',
  )
  const session_id = frames[0]?.data.session_id
  t.equal((await key.messages(session_id)).body.messages[1].agent, 'Concierge')
  const messages = user('Hi')
  const refused = async (target_agent_id: string, other = key) => {
    const { status, code, body } = await other.chat({ messages, target_agent_id })
    t.equal(body.error.code, code)
    return [status, code]
  }
  t.strictSame(await refused(randomUUID()), [404, 'agent_not_found'])
  const stranger = await (await server.platform.organization()).key()
  t.strictSame(await refused(id, stranger), [404, 'agent_not_found'], 'of its own organization')
  t.strictSame(await refused('x'), [400, 'invalid_input'])
  const asleep = await organization.agent({ name: 'Asleep', is_active: false })
  t.strictSame(await refused(asleep), [400, 'agent_inactive'])
  const container = { name: 'Line', agent_type: 'SEQUENTIAL_AGENT', sub_agents: [id] }
  const line = await organization.agent(container)
  t.equal((await key.chat({ messages, target_agent_id: line })).status, 200, 'of any type')
})

t.test('on_behalf_of', async (t) => {
  const { server, key, organization } = await startChat(t)
  const target = await organization.member({ pending: true })
  const partner = await organization.key({ scopes })
  const messages = user('Hi')

  t.match(
    await key.chat({ messages, on_behalf_of: target }),
    {
      status: 403,
      code: 'insufficient_scopes',
      body: { error: 'insufficient_scopes', missing_scopes: ['users:delegate'] },
    },
    'needs users:delegate',
  )
  t.match(await partner.chat({ messages, on_behalf_of: 'nobody' }), {
    status: 404,
    body: { error: { code: 'user_not_found' } },
  })
  const stranger = (await server.platform.organization()).ownerId
  t.match(await partner.chat({ messages, on_behalf_of: stranger }), {
    status: 404,
    body: { error: { code: 'user_not_found' } },
  })

  const before = await organization.balance()
  const { body } = await partner.chat({ messages, on_behalf_of: target })
  const { session_id } = body
  t.equal((await partner.messages(session_id)).status, 404, 'the session is the target’s')
  t.equal((await partner.messages(session_id, `?on_behalf_of=${target}`)).status, 200)
  t.equal((await partner.sessions()).body.total, 0)
  t.equal((await partner.sessions(`?on_behalf_of=${target}`)).body.total, 1)
  t.equal((await key.sessions(`?on_behalf_of=${target}`)).status, 403)
  const after = await organization.balance()
  t.ok(after.balance < before.balance, 'charged to the key’s backing user')
  t.equal((await server.platform.balanceOf(target)).balance, 0)
  t.equal(
    (await partner.chat({ messages, session_id, on_behalf_of: target })).body.session_id,
    session_id,
  )
  t.equal((await partner.chat({ messages, session_id })).status, 404, 'not without delegation')
})

t.test('messages, plans and credits are refused in the documented shapes', async (t) => {
  const { server } = await startChat(t)
  const chatOf = async (ask: Parameters<typeof server.platform.organization>[0]) => {
    const organization = await server.platform.organization(ask)
    const key = await organization.key()
    return { organization, key, refused: await key.chat({ messages: user('Hi') }) }
  }
  t.match((await chatOf({ plan: null })).refused, {
    status: 403,
    code: 'no_subscription',
    body: {
      error: { type: 'subscription_required', code: 'no_subscription', message: String },
      has_subscription: false,
      required_plans: ['basic_monthly', 'pro_monthly'],
    },
  })
  const poor = await server.platform.organization({ credits: 0 })
  await server.platform.ask('POST', `/users/${poor.ownerId}/credits`, {
    amount: -1,
    reason: 'debt',
  })
  const refused = await (await poor.key()).chat({ messages: user('Hi') })
  t.match(refused, {
    status: 402,
    code: 'insufficient_credits',
    body: {
      error: { type: 'insufficient_credits', code: 'insufficient_credits' },
      credit_balance: -1,
      effective_balance: -1,
      can_use_api: false,
    },
  })
  t.equal(refused.headers.get('x-should-retry'), 'false')
  const streamed = await (await poor.key()).stream({ messages: user('Hi') })
  t.equal(streamed.status, 402, 'also when streamed')
  await streamed.reply.text()
})

t.test('a refused message leaves no trace', async (t) => {
  const { key, organization, server } = await startChat(t)
  const other = await (await server.platform.organization()).key()
  const session_id = 'mine'
  await key.chat({ messages: user('Hi'), session_id })
  const before = await organization.balance()
  t.equal(
    (await other.chat({ messages: user('Hi'), session_id })).status,
    200,
    'another organization’s id is simply unknown',
  )
  t.equal((await key.messages(session_id)).body.total, 2)
  t.strictSame(await organization.balance(), before)
})

t.test('bodies that are not right', async (t) => {
  const { key, server } = await startChat(t)
  const raw = async (text: string, type = 'application/json') => {
    const reply = await fetch(`${server.url}/api/external/v1/chat/completions`, {
      method: 'POST',
      headers: { 'x-api-key': key.key, 'content-type': type },
      body: text,
    })
    return { status: reply.status, body: JSON.parse(await reply.text()) }
  }
  t.match(await raw('{"messages":'), { status: 400, body: { error: { code: 'invalid_json' } } })
  t.match(await raw('messages=1', 'application/x-www-form-urlencoded'), { status: 415 })
  t.match(await raw(JSON.stringify({ messages: user('x'.repeat(11_000_000)) })), {
    status: 413,
    body: { error: { code: 'payload_too_large' } },
  })
  for (const messages of ['Hi', [{ role: 'owner', content: 'x' }], [{ role: 'user' }], [null]])
    t.equal((await key.chat({ messages })).status, 400)
})
