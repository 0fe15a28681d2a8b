import t, { type Test } from 'tap'
import { textOf, user } from '../support/client.ts'
import { encodedFile } from '../support/library.ts'
import { covering } from './covering.ts'
import { api, scene, settledContent, unknownId } from './scene.ts'

const time = /^\d{4}-\d\d-\d\dT[\d:.]+Z$/
const uuid = /^[0-9a-f-]{36}$/
const messages = user('Hi')

/** The body has these fields, with these values, and no other. */
const isExactly = (t: Test, body: object, expected: Record<string, unknown>) => {
  t.match(body, expected)
  t.strictSame(Object.keys(body).toSorted(), Object.keys(expected).toSorted())
}

const contentItem = {
  id: uuid,
  content_type: 'image',
  status: 'completed',
  prompt: String,
  provider_version: String,
  output_url: null,
  storage_url: /^http/,
  error_message: null,
  processing_time_ms: Number,
  credit_cost: Number,
  created_at: time,
  completed_at: time,
}

const uploadItem = {
  upload_id: uuid,
  filename: 'a.txt',
  file_size: 17,
  file_type: 'text/plain',
  status: 'completed',
  uploaded_at: time,
  indexed_at: time,
  error_message: null,
}

/** A DataStore with one file that can be searched. */
const shelf = async (t: Test) => {
  const all = await scene(t)
  const id = await all.rag.datastore('Library')
  const sent = await all.rag.upload(id, encodedFile('a.txt', 'The zebra sleeps.'))
  await all.rag.settled(id)
  return { ...all, id, sent, uploadId: sent.body.uploads[0].upload_id as string }
}

covering(t, 'endpoints', {
  async 'POST /api/external/v1/chat/completions'(t) {
    const { key } = await scene(t)
    const { status, body } = await key.chat({ messages, model: 'any', session_id: 'mine' })
    t.equal(status, 200)
    isExactly(t, body, {
      id: /^chatcmpl-/,
      object: 'chat.completion',
      created: Number,
      model: 'any',
      choices: [
        { index: 0, message: { role: 'assistant', content: String }, finish_reason: 'stop' },
      ],
      usage: { prompt_tokens: Number, completion_tokens: Number, total_tokens: Number },
      session_id: 'mine',
    })
    t.equal(body.usage.total_tokens, body.usage.prompt_tokens + body.usage.completion_tokens)
    t.match((await key.chat({ messages })).body, { model: 'svc-orchestrator', session_id: uuid })
    const stream = await key.stream({ messages, session_id: 'mine' })
    t.match(stream.headers.get('content-type'), /^text\/event-stream/)
    const frames = await stream.all()
    t.equal(frames.at(-1)?.data, '[DONE]')
    const chunks = frames.slice(0, -1).filter(({ data }) => data.choices)
    for (const { data } of chunks)
      t.match(data, { id: /^chatcmpl-/, object: 'chat.completion.chunk', session_id: 'mine' })
    t.match(chunks[0]?.data.choices, [{ delta: { role: 'assistant' }, finish_reason: null }])
    t.strictSame(chunks.at(-1)?.data.choices, [{ index: 0, delta: {}, finish_reason: 'stop' }])
    t.ok(textOf(chunks).length > 0)
    t.equal((await key.messages('mine')).body.total, 4)
  },

  async 'POST /api/external/v1/warmup'(t) {
    const { ask, organization } = await scene(t)
    const { organizationId: organization_id, ownerId: user_id } = organization
    const agent_id = await organization.agent({ name: 'Helper' })
    const warmed = {
      took_ms: Number,
      organization_id,
      user_id,
      sub_agents: 0,
      tools: 0,
      agent_id,
      agent_ready: true,
    }
    const warmup = () => ask('POST', api('/v1/warmup'), { agent_id })
    isExactly(t, (await warmup()).body, { status: 'built', ...warmed })
    isExactly(t, (await warmup()).body, { status: 'warm', ...warmed })
    const { agent_id: _, agent_ready: __, ...own } = warmed
    isExactly(t, (await ask('POST', api('/v1/warmup'))).body, { status: 'warm', ...own })
  },

  async 'GET /api/external/agents'(t) {
    const { ask, organization } = await scene(t)
    await organization.agent({ name: 'Line', agent_type: 'SEQUENTIAL_AGENT', is_active: false })
    const { status, body } = await ask('GET', api('/agents'))
    t.equal(status, 200)
    isExactly(t, body, { agents: [{}, {}], total: 2, organization_id: organization.organizationId })
    isExactly(t, body.agents[1], {
      agent_id: uuid,
      name: 'Line',
      agent_type: 'SEQUENTIAL_AGENT',
      description: '',
      is_active: false,
      model: null,
      has_tools: false,
      has_mcp: false,
    })
    const filtered = await ask('GET', api('/agents?agent_type=LLM_AGENT&is_active=true'))
    t.match(filtered.body, { agents: [{ name: 'Orchestrator' }], total: 1 })
  },

  async 'POST /api/external/agents/{agent_id}/completions'(t) {
    const { key, organization } = await scene(t)
    const agent_id = await organization.agent({ name: 'Helper' })
    const path = api(`/agents/${agent_id}/completions`)
    const request = { message: 'Hi', session_id: 'mine', temperature: 0, max_tokens: 50 }
    const { status, body } = await key.ask('POST', path, request)
    t.equal(status, 200)
    isExactly(t, body, {
      id: /^agentcmpl-/,
      agent_id,
      agent_name: 'Helper',
      session_id: 'mine',
      response: String,
      created: Number,
      model: String,
    })
    const streamed = await key.ask('POST', path, { ...request, stream: true })
    t.match(streamed.headers.get('content-type'), /^text\/event-stream/)
    t.match(streamed.body, '"object":"agent.completion.chunk"')
    t.match(streamed.body, /data: \[DONE\]\n\n$/)
  },

  async 'GET /api/external/sessions'(t) {
    const { key } = await scene(t)
    await key.chat({ messages, session_id: 'first' })
    await key.chat({ messages, session_id: 'hidden', session_hidden: true })
    const { status, body } = await key.sessions()
    t.equal(status, 200)
    isExactly(t, body, { sessions: Array, total: 2, page: 1, page_size: 20, has_next: false })
    isExactly(t, body.sessions[0], {
      session_id: 'hidden',
      created_at: time,
      last_update_time: time,
      is_active: true,
      message_count: 2,
    })
    t.match(body.sessions[1], { session_id: 'first' }, 'most recent first')
    t.match((await key.sessions('?include_hidden=false')).body, {
      sessions: [{ session_id: 'first' }],
      total: 1,
    })
    t.match((await key.sessions('?page=2&page_size=1')).body, {
      sessions: [{ session_id: 'first' }],
      page: 2,
      page_size: 1,
      has_next: false,
    })
  },

  async 'GET /api/external/sessions/{session_id}/messages'(t) {
    const { key } = await scene(t)
    await key.chat({ messages, session_id: 'mine' })
    const { status, body } = await key.messages('mine')
    t.equal(status, 200)
    isExactly(t, body, {
      session_id: 'mine',
      messages: Array,
      total: 2,
      page: 1,
      page_size: 50,
      has_next: false,
    })
    const message = { event_id: uuid, created_at: time, visibility: 'visible' }
    const [first, second] = body.messages
    isExactly(t, first, { ...message, event_type: 'user_message', content: 'Hi', agent: null })
    isExactly(t, second, {
      ...message,
      event_type: 'assistant_message',
      content: String,
      agent: 'Orchestrator',
    })
  },

  async 'GET /api/external/sessions/{session_id}/status'(t) {
    const { key } = await scene(t)
    await key.chat({ messages, session_id: 'mine' })
    const { status, body } = await key.status('mine')
    t.equal(status, 200)
    t.strictSame(body, { session_id: 'mine', is_processing: false })
  },

  async 'GET /api/external/content'(t) {
    const { ask, generated } = await scene(t)
    await generated('image')
    const { status, body } = await ask('GET', api('/content?content_type=image&status=completed'))
    t.equal(status, 200)
    isExactly(t, body, { items: Array, total: 1, page: 1, page_size: 20, has_more: false })
    isExactly(t, body.items[0], contentItem)
    t.match((await ask('GET', api('/content?status=failed'))).body, { items: [], total: 0 })
  },

  async 'GET /api/external/content/{content_id}'(t) {
    const { ask, organization, generated } = await scene(t)
    const { id } = await generated('image')
    const { status, body } = await ask('GET', api(`/content/${id}`))
    t.equal(status, 200)
    isExactly(t, body, {
      ...contentItem,
      organization_id: organization.organizationId,
      user_id: organization.ownerId,
      provider_prediction_id: String,
      provider_input: Object,
      storage_path: String,
      retry_count: 0,
      max_retries: 3,
      started_at: time,
    })
    const file = await fetch(body.storage_url)
    t.equal(file.status, 200, 'the storage link works as it is')
    await file.arrayBuffer()
  },

  async 'POST /api/external/content/{content_id}/retry'(t) {
    const { ask, key, generated } = await scene(t)
    const { id } = await generated('video')
    const retried = await ask('POST', api(`/content/${id}/retry`))
    t.equal(retried.status, 200)
    isExactly(t, retried.body, {
      success: true,
      message: 'Retry queued (attempt 1 of 3)',
      generation_id: id,
    })
    await settledContent(key)
    t.match((await ask('GET', api(`/content/${id}`))).body, { retry_count: 1, status: 'failed' })
  },

  async 'POST /api/external/rag/datastores'(t) {
    const { ask } = await scene(t)
    const { status, body } = await ask('POST', api('/rag/datastores'), { display_name: 'Terms' })
    t.equal(status, 200)
    isExactly(t, body, {
      success: true,
      datastore_id: uuid,
      display_name: 'Terms',
      description: null,
      message: String,
    })
  },

  async 'GET /api/external/rag/datastores'(t) {
    const { ask, id } = await shelf(t)
    const { status, body } = await ask('GET', api('/rag/datastores'))
    t.equal(status, 200)
    isExactly(t, body, { datastores: Array, total: 1 })
    isExactly(t, body.datastores[0], {
      datastore_id: id,
      display_name: 'Library',
      description: null,
      document_count: 1,
      created_at: time,
      is_active: true,
    })
  },

  async 'GET /api/external/rag/datastores/{id}/files'(t) {
    const { ask, id } = await shelf(t)
    const { status, body } = await ask('GET', api(`/rag/datastores/${id}/files`))
    t.equal(status, 200)
    isExactly(t, body, { datastore_id: id, files: Array, total: 1 })
    isExactly(t, body.files[0], uploadItem)
  },

  async 'DELETE /api/external/rag/datastores/{id}'(t) {
    const { ask, id } = await shelf(t)
    const { status, body } = await ask('DELETE', api(`/rag/datastores/${id}`))
    t.equal(status, 200)
    isExactly(t, body, { success: true, datastore_id: id, deleted_files: 1, message: String })
    t.match((await ask('GET', api('/rag/datastores'))).body, { total: 0 })
    t.match(await ask('DELETE', api(`/rag/datastores/${id}`)), { status: 404 })
  },

  async 'DELETE /api/external/rag/datastores/{id}/files/{filename}'(t) {
    const { ask, id, rag } = await shelf(t)
    const { status, body } = await ask('DELETE', api(`/rag/datastores/${id}/files/a.txt`))
    t.equal(status, 200)
    isExactly(t, body, { success: true, datastore_id: id, filename: 'a.txt', message: String })
    t.strictSame(await rag.search(id, 'zebra'), [])
    t.match(await ask('DELETE', api(`/rag/datastores/${unknownId}/files/a.txt`)), { status: 404 })
    t.match(await ask('DELETE', api(`/rag/datastores/${id}/files/a.txt`)), { status: 500 })
  },

  async 'POST /api/external/rag/upload'(t) {
    const { id, sent } = await shelf(t)
    t.equal(sent.status, 200)
    isExactly(t, sent.body, {
      success: true,
      datastore_id: id,
      datastore_name: 'Library',
      uploads: Array,
      message: String,
    })
    isExactly(t, sent.body.uploads[0], {
      upload_id: uuid,
      filename: 'a.txt',
      status: 'processing',
    })
  },

  async 'GET /api/external/rag/uploads'(t) {
    const { ask, id } = await shelf(t)
    const list = (query: string) => ask('GET', api(`/rag/uploads${query}`))
    const { status, body } = await list(`?status=completed&datastore_id=${id}`)
    t.equal(status, 200)
    isExactly(t, body, { uploads: Array, total: 1, limit: 50, offset: 0 })
    const placed = { datastore_id: id, datastore_name: 'Library' }
    isExactly(t, body.uploads[0], { ...uploadItem, ...placed })
    t.match((await list('?limit=1&offset=1')).body, { uploads: [], total: 1, limit: 1, offset: 1 })
    t.match((await list('?status=failed')).body, { total: 0 })
  },

  async 'GET /api/external/rag/uploads/{upload_id}'(t) {
    const { ask, id, uploadId } = await shelf(t)
    const { status, body } = await ask('GET', api(`/rag/uploads/${uploadId}`))
    t.equal(status, 200)
    const placed = { datastore_id: id, datastore_name: 'Library' }
    isExactly(t, body, { ...uploadItem, ...placed, ready: true })
  },

  async 'POST /api/external/management/users'(t) {
    const { ask, organization } = await scene(t)
    const { organizationId: organization_id } = organization
    const provision = () =>
      ask('POST', api('/management/users'), { email: 'Ann.Lee@Example.com', organization_id })
    const first = await provision()
    t.equal(first.status, 200)
    isExactly(t, first.body, {
      user_id: uuid,
      email: 'ann.lee@example.com',
      created: true,
      membership_status: 'pending',
    })
    const again = await provision()
    t.equal(again.status, 200)
    t.strictSame(again.body, { ...first.body, created: false })
    const listed = await ask('GET', api('/management/users'))
    t.match(listed.body.users, [{ name: 'ann.lee' }], 'named by the local part of the address')
  },

  async 'GET /management/agents'(t) {
    const { ask, organization } = await scene(t)
    const { status, body } = await ask('GET', '/management/agents')
    t.equal(status, 200)
    isExactly(t, body, { agents: Array, total: 1, organization_id: organization.organizationId })
    const { agent_id } = body.agents[0]
    isExactly(t, body.agents[0], {
      agent_id: uuid,
      name: 'Orchestrator',
      agent_type: 'LLM_AGENT',
      root_agent_id: agent_id,
      is_root: true,
      needs_credentials: [],
    })
  },

  async 'GET /api/health'(t) {
    const { server } = await scene(t)
    const { status, body } = await server.as('').ask('GET', '/api/health')
    t.equal(status, 200)
    isExactly(t, body, { status: 'ok', version: /^\d+\.\d+\.\d+/, timestamp: time })
  },
})
