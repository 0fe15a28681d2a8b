import t from 'tap'
import { deferred } from '../../../src/support/deferred.ts'
import { approvalScene, refundCall } from '../../support/approval-scene.ts'
import { blocksOf, type Client, user } from '../../support/client.ts'
import { eventually } from '../../support/eventually.ts'
import { eventIn } from '../../support/open-responses.ts'
import { startChat, startServer } from '../../support/server.ts'

const at = '/api/external/v1/responses'
const tool = { type: 'function', name: 'f', parameters: { type: 'object' } }
const unknown = { status: 404, body: { error: { code: 'response_not_found' } } }

const respond = async (key: Client, body: object) => (await key.ask('POST', at, body)).body
const read = async (key: Client, id: string) => (await key.ask('GET', `${at}/${id}`)).body
/** The responses in the events of a response in the background. */
const streamedResponses = async (key: Client, id: string) => {
  const responses: unknown[] = []
  const { reply } = await key.open('GET', `${at}/${id}?stream=true`, undefined)
  for await (const block of blocksOf(reply.body)) {
    const item = eventIn(block, true)
    if (item && item.faults.length > 0) throw new Error(item.faults.join())
    if (item?.event.response) responses.push(item.event.response)
  }
  return responses
}
const waitForEnd = (key: Client, id: string) =>
  eventually(async () => {
    const response = await read(key, id)
    return ['queued', 'in_progress'].includes(response.status) ? undefined : response
  })

const every = {
  model: 'gpt-4o',
  instructions: 'Be brief.',
  max_output_tokens: 50,
  metadata: { ticket: '17' },
  parallel_tool_calls: false,
  presence_penalty: 0.5,
  frequency_penalty: -0.5,
  prompt_cache_key: 'cache',
  reasoning: { effort: 'low', summary: 'detailed' },
  safety_identifier: 'ada',
  store: false,
  temperature: 0.25,
  text: { verbosity: 'low' },
  tools: [tool],
  tool_choice: { type: 'function', name: 'f' },
  top_p: 0.75,
  truncation: 'disabled',
}
const repeated = {
  ...every,
  reasoning: { effort: 'low', summary: null },
  text: { format: { type: 'text' }, verbosity: 'low' },
  tools: [{ ...tool, description: null, strict: null }],
}

t.test('a response that is read again repeats its request as the first answer did', async (t) => {
  const { key, server } = await startChat(t)
  const foreground = await respond(key, { ...every, input: 'Hi' })
  t.match(foreground, repeated)
  const background = await respond(key, { ...every, input: 'Hi', background: true })
  t.match(background, { ...repeated, background: true })
  const before = await respond(key, { input: 'Hi' })
  const next = await respond(key, { input: 'Ho', previous_response_id: before.id })
  t.match(next, { previous_response_id: before.id })
  const done = await waitForEnd(key, background.id)
  const all = [foreground, before, next, done]
  for (const response of all) t.strictSame(await read(key, response.id), response, 'from memory')
  t.match(
    await streamedResponses(key, background.id),
    Array(3).fill({ ...repeated, background: true }),
  )
  await server.restart()
  const again = server.as(key.key)
  for (const response of all)
    t.strictSame(await read(again, response.id), response, 'from what is stored')
  t.strictSame((await streamedResponses(again, background.id)).at(-1), done, 'also in its events')
  t.strictSame(
    { ...done, status: 0, completed_at: 0, output: 0, usage: 0 },
    { ...background, status: 0, completed_at: 0, output: 0, usage: 0 },
    'only its end was added',
  )
  t.match((await again.ask('POST', `${at}/${background.id}/cancel`)).body, done)
})

t.test('a turn that was not asked for as a response has the defaults', async (t) => {
  const { key, server } = await startChat(t)
  const { id, session_id } = (await key.chat({ messages: user('Hi'), model: 'gpt-4o' })).body
  const run = id.replace(/^chatcmpl-/, 'resp_')
  const conversation = { id: session_id }
  const defaults = { status: 'completed', background: false, temperature: 1, conversation }
  const response = await read(key, run)
  t.match(response, defaults)
  await server.restart()
  t.strictSame(await read(server.as(key.key), run), response, 'also after a restart')
})

t.test('in the background: answered at once, read until it has ended', async (t) => {
  const { key, provider } = await startChat(t)
  const go = deferred<void>()
  provider.next({ text: 'One two', hold: { after: 0, until: go.promise } })
  const response = await respond(key, { input: 'Hi', background: true, metadata: { a: 'b' } })
  t.match(response, { status: 'in_progress', background: true, output: [], metadata: { a: 'b' } })
  t.match(await read(key, response.id), { status: 'in_progress', output: [], usage: null })
  const queued = await respond(key, {
    input: 'And?',
    background: true,
    conversation: response.conversation,
  })
  t.match(queued, { status: 'queued', output: [] })
  t.match(await read(key, queued.id), { status: 'queued' })
  t.match((await key.ask('GET', `${at}/${queued.id}/input_items`)).body, { data: [] })
  go.resolve()
  t.match(await waitForEnd(key, response.id), {
    status: 'completed',
    output: [{ content: [{ text: 'One two' }] }],
  })
  t.match(await waitForEnd(key, queued.id), { status: 'completed', output: [{ type: 'message' }] })
})

t.test('a background response that fails says so', async (t) => {
  const { key, provider } = await startChat(t)
  const go = deferred<void>()
  provider.next({ status: 401, hold: { after: 0, until: go.promise } })
  const { id } = await respond(key, { input: 'Hi', background: true })
  go.resolve()
  t.match(await waitForEnd(key, id), {
    status: 'failed',
    output: [],
    usage: null,
    error: { code: 'model_misconfigured', message: String },
  })
})

t.test('one that is refused when it is its turn says so, too', async (t) => {
  const { key, server, provider, organization } = await startChat(t)
  const go = deferred<void>()
  provider.next({ text: 'One', hold: { after: 0, until: go.promise } })
  const first = await respond(key, { input: 'Hi', background: true })
  const second = await respond(key, {
    input: 'And?',
    background: true,
    conversation: first.conversation,
  })
  t.equal(second.status, 'queued')
  const spent = { amount: -1_000, reason: 'spent' }
  await server.platform.ask('POST', `/users/${organization.ownerId}/credits`, spent)
  go.resolve()
  t.match(await waitForEnd(key, second.id), {
    status: 'failed',
    output: [],
    error: { code: 'insufficient_credits' },
  })
  t.match(await (await organization.key()).ask('GET', `${at}/${second.id}`), unknown)
})

t.test('cancelling keeps what was said, and can be repeated', async (t) => {
  const { key, server, provider, organization } = await startChat(t)
  const hold = { after: 3, until: new Promise(() => undefined) }
  provider.next({ text: 'One two three', hold })
  const { reply } = await key.open('POST', at, { input: 'Hi', background: true, stream: true })
  const reader = reply.body?.getReader()
  let seen = ''
  while (!seen.includes('output_text.delta'))
    seen += new TextDecoder().decode((await reader?.read())?.value)
  const id = /resp_[\da-f-]+/.exec(seen)?.[0] ?? ''
  const queued = await respond(key, {
    input: 'And?',
    background: true,
    conversation: (await read(key, id)).conversation,
  })

  const cancel = (who: Client, responseId: string) => who.ask('POST', `${at}/${responseId}/cancel`)
  const stranger = await (await server.platform.organization()).key()
  for (const other of [stranger, await organization.key()])
    for (const responseId of [id, queued.id]) t.match(await cancel(other, responseId), unknown)
  const reading = await organization.key({ type: 'user', scopes: ['sessions:messages'] })
  t.match(await cancel(reading, id), { status: 403 })

  const stopped = { id: queued.id, status: 'cancelled', output: [] }
  t.match((await cancel(key, queued.id)).body, stopped, 'one that waits is not waited for')
  t.match(await read(key, queued.id), stopped)
  const cancelled = (await cancel(key, id)).body
  t.match(cancelled, {
    id,
    status: 'cancelled',
    output: [{ status: 'incomplete', content: [{ text: /^One/ }] }],
    usage: { output_tokens: Number },
  })
  t.strictSame((await cancel(key, id)).body, cancelled)
  t.strictSame(await read(key, id), cancelled)
  for (let part = await reader?.read(); part && !part.done; part = await reader?.read())
    seen += new TextDecoder().decode(part.value)
  t.match(seen, /event: response\.incomplete\nid: \d+\n.*"status":"cancelled"/)

  t.match(await waitForEnd(key, queued.id), stopped)
  const done = await respond(key, { input: 'Hi' })
  t.match((await cancel(key, done.id)).body, { status: 'completed', output: done.output })
})

t.test('the input items of a response can be listed', async (t) => {
  const { key, provider, organization } = await startChat(t)
  const items = (id: string, query = '') => key.ask('GET', `${at}/${id}/input_items${query}`)
  const call = { name: 'f', arguments: {} }
  provider.next({ calls: [call, call] })
  const response = await respond(key, { input: 'Go', tools: [tool] })
  t.match((await items(response.id)).body, {
    object: 'list',
    data: [
      {
        type: 'message',
        id: /^msg_/,
        role: 'user',
        status: 'completed',
        content: [{ type: 'input_text', text: 'Go' }],
      },
    ],
    has_more: false,
  })
  const outputs = response.output.map(({ call_id }: { call_id: string }, n: number) => ({
    type: 'function_call_output',
    call_id,
    output: `result ${n}`,
  }))
  const next = await respond(key, { input: outputs, previous_response_id: response.id })
  const list = (await items(next.id, '?order=asc')).body
  t.match(list.data, outputs)
  t.equal(list.data.length, 2)
  t.equal(list.first_id, list.data[0].id)
  t.equal(list.last_id, list.data[1].id)
  t.strictSame((await items(next.id)).body.data, list.data.toReversed(), 'the newest first')
  const first = (await items(next.id, '?order=asc&limit=1')).body
  t.match(first, { data: [list.data[0]], has_more: true })
  const second = (await items(next.id, `?order=asc&limit=1&after=${first.last_id}`)).body
  t.match(second, { data: [list.data[1]], has_more: false })
  for (const after of ['msg_unknown', '', '__proto__'])
    t.match(
      await items(next.id, `?after=${after}`),
      { status: 400, body: { detail: { after: ['There is no such item'] } } },
      'an unknown item would begin anew, without an end',
    )
  t.match(await (await organization.key()).ask('GET', `${at}/${next.id}/input_items`), unknown)
})

t.test('deleting erases the session, where the response is all of it', async (t) => {
  const { key, organization } = await startChat(t)
  const cleaner = await organization.key({
    type: 'user',
    scopes: ['orchestrator:invoke', 'sessions:messages', 'sessions:read', 'sessions:delete'],
  })
  const remove = (who: Client, id: string, query = '') => who.ask('DELETE', `${at}/${id}${query}`)
  const single = await respond(cleaner, { input: 'Hi' })
  t.match(await remove(key, single.id), { status: 403, code: 'insufficient_scopes' })
  const other = await organization.key({ scopes: ['sessions:delete'] })
  t.match(await remove(other, single.id), unknown)
  t.strictSame((await remove(cleaner, single.id)).body, {
    id: single.id,
    object: 'response.deleted',
    deleted: true,
  })
  t.match(await cleaner.ask('GET', `${at}/${single.id}`), unknown)
  t.match(await cleaner.messages(single.conversation.id), { status: 404 })
  t.match(await remove(cleaner, single.id), unknown)
  const raced = await respond(cleaner, { input: 'Hi' })
  const removals = await Promise.all([1, 2, 3].map(() => remove(cleaner, raced.id)))
  t.equal(removals.filter(({ status }) => status === 200).length, 1, 'one of many at once wins')
  for (const lost of removals.filter(({ status }) => status !== 200)) t.match(lost, unknown)

  const first = await respond(cleaner, { input: 'Hi' })
  const second = await respond(cleaner, { input: 'Ho', previous_response_id: first.id })
  for (const { id } of [first, second])
    t.match(await remove(cleaner, id), {
      status: 409,
      body: { error: { code: 'response_continued' } },
    })
  t.equal((await remove(cleaner, first.id, '?conversation=true')).status, 200)
  for (const { id } of [first, second]) t.match(await cleaner.ask('GET', `${at}/${id}`), unknown)
})

t.test(
  'calls and their results, with the session, the history, and references to items',
  async (t) => {
    const { key, provider } = await startChat(t)
    const calling = { text: 'Wait.', calls: [{ name: 'f', arguments: { a: 1 } }] }
    const start = async () => {
      provider.next(calling)
      return respond(key, { input: 'Go', tools: [tool], store: false })
    }
    const sentMessages = () =>
      provider.requests.at(-1)?.body.messages.filter(({ role }) => role !== 'system')
    const outputOf = ({ output }: { output: { call_id?: string }[] }) => ({
      type: 'function_call_output',
      call_id: output.at(-1)?.call_id,
      output: [{ type: 'input_text', text: 'done' }],
    })
    const expected = [
      { role: 'user', content: 'Go' },
      { role: 'assistant', content: 'Wait.', tool_calls: [{ function: { name: 'f' } }] },
      { role: 'tool', content: 'done' },
    ]
    for (const [how, rest] of [
      [
        'previous',
        (response) => ({ previous_response_id: response.id, input: [outputOf(response)] }),
      ],
      [
        'conversation',
        (response) => ({ conversation: response.conversation, input: [outputOf(response)] }),
      ],
      [
        'history',
        (response) => ({
          input: [{ role: 'user', content: 'Go' }, ...response.output, outputOf(response)],
        }),
      ],
      [
        'references',
        (response) => ({
          input: [
            { role: 'user', content: 'Go' },
            ...response.output.map(({ id }: { id: string }) => ({ type: 'item_reference', id })),
            outputOf(response),
          ],
        }),
      ],
      // biome-ignore lint/suspicious/noExplicitAny: an answer
    ] as [string, (response: any) => object][]) {
      const response = await start()
      t.match(response.output, [
        { type: 'message' },
        { type: 'function_call', name: 'f', status: 'completed' },
      ])
      const next = await respond(key, { ...rest(response), tools: [tool] })
      t.match(next, { status: 'completed', conversation: response.conversation }, how)
      t.match(sentMessages(), expected, how)
    }

    const greeting = await respond(key, { input: 'Hi' })
    const reference = [
      { role: 'user', content: 'Hi' },
      { id: greeting.output[0].id },
      { role: 'user', content: 'And?' },
    ]
    await respond(key, { input: reference })
    t.match(sentMessages(), [
      { content: 'Hi' },
      { role: 'assistant', content: greeting.output[0].content[0].text },
      { content: 'And?' },
    ])
    for (const id of ['msg_1', 'fc_1', 'nonsense'])
      t.match(await key.ask('POST', at, { input: [{ role: 'user', content: 'Hi' }, { id }] }), {
        status: 404,
        body: { error: { code: 'response_not_found', param: 'input' } },
      })
    const many = Array(257).fill({ id: greeting.output[0].id })
    t.match(await key.ask('POST', at, { input: [{ role: 'user', content: 'Hi' }, ...many] }), {
      status: 400,
      body: { error: { code: 'too_complex', param: 'input' } },
    })

    const response = await start()
    t.match(
      await key.ask('POST', at, {
        previous_response_id: response.id,
        input: [{ type: 'function_call_output', call_id: 'call_other', output: 'x' }],
      }),
      { status: 400, body: { error: { code: 'invalid_tool_result', param: 'input' } } },
    )
  },
)

t.test('a response that ran when the server was killed goes on after the next start', async (t) => {
  const { provider } = await startChat(t)
  provider.next({ silent: true })
  const model = { LLM_BASE_URL: provider.url, LLM_MODEL: 'test/model' }
  const server = await startServer(t, model)
  const organization = await server.platform.organization()
  const { key } = await organization.key()
  const { id } = await respond(server.as(key), { input: 'Hi', background: true })
  t.match(await read(server.as(key), id), { status: 'in_progress', background: true })
  await provider.received(1)
  await server.kill9()
  await server.restart()
  t.match(await waitForEnd(server.as(key), id), {
    id,
    status: 'completed',
    background: true,
    output: [{ content: [{ text: 'Hello from the double.' }] }],
  })
})

t.test('one that waits for an approval says so; it goes on, or is cancelled', async (t) => {
  const { key, shop, provider, list, decide } = await approvalScene(t)
  const start = () => {
    provider.next({ text: 'Let me see. ', calls: [refundCall] })
    return respond(key, { input: 'Refund A-1', model: shop })
  }
  const waiting = { status: 'incomplete', incomplete_details: { reason: 'awaiting_approval' } }
  const first = await start()
  t.match(first, waiting)
  t.match(await read(key, first.id), waiting)
  const [pending] = (await list('?status=pending')).body.approvals
  t.equal((await decide(pending, 'approve')).status, 200)
  const done = await eventually(async () => {
    const response = await read(key, first.id)
    return response.status === 'completed' ? response : undefined
  })
  t.match(done.output, [{ content: [{ text: 'Let me see. \n\nDone.' }] }])

  const second = await start()
  const cancelled = (await key.ask('POST', `${at}/${second.id}/cancel`)).body
  t.match(cancelled, { id: second.id, status: 'cancelled', output: [{ status: 'incomplete' }] })
  t.strictSame(await read(key, second.id), cancelled)
})
