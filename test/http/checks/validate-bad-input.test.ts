import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { connect } from 'node:net'
import { text } from 'node:stream/consumers'
import { gzipSync } from 'node:zlib'
import fc from 'fast-check'
import t from 'tap'
import { raw } from '../../support/raw.ts'
import { startApp } from '../../support/server.ts'

const chat = '/api/external/v1/chat/completions'
const mebibyte = 1024 * 1024
const hello = [{ role: 'user', content: 'Hello' }]

const started = async (t: Parameters<typeof startApp>[0]) => {
  const server = await startApp(t)
  const organization = await server.platform.organization({ credits: 1_000 })
  const { key } = await organization.key({
    scopes: ['orchestrator:invoke', 'sessions:messages', 'sessions:read', 'users:delegate'],
  })
  const ask = raw(server.url)
  const headers = { 'x-api-key': key, 'content-type': 'application/json' }
  return {
    ...server,
    ask,
    headers,
    post: (body: string | Buffer, type = 'application/json') =>
      ask(chat, { method: 'POST', headers: { ...headers, 'content-type': type }, body }),
    get: (path: string) => ask(path, { headers: { 'x-api-key': key } }),
  }
}

const error = (status: number, code: string, more: object = {}) => ({
  status,
  headers: { 'x-error-code': code },
  body: { error: { message: String, type: 'invalid_request_error', code, ...more } },
})
const invalid = (param: string) => error(400, 'invalid_input', { param })
const missing = (param: string) => error(400, 'missing_required_field', { param })

t.test('bodies', async (t) => {
  const { post, ask, headers } = await started(t)
  const deep = '['.repeat(100_000) + ']'.repeat(100_000)
  const of = (fields: object) => JSON.stringify({ messages: hello, ...fields })
  const cases: [string, string | Buffer, object][] = [
    ['cut short', '{"messages":[', error(400, 'invalid_json', { param: null })],
    ['not JSON', 'hello', error(400, 'invalid_json')],
    ['two values', '{}{}', error(400, 'invalid_json')],
    ['not UTF-8', Buffer.from([0x22, 0xff, 0x22]), error(400, 'invalid_json')],
    ['UTF-16', Buffer.from('{}', 'utf16le'), error(400, 'invalid_json')],
    ['__proto__', '{"__proto__":{"role":"admin"},"messages":[]}', error(400, 'invalid_json')],
    [
      'deep __proto__',
      of({ a: [{ b: 1 }] }).replace('"b"', '"__proto__"'),
      error(400, 'invalid_json'),
    ],
    ['a prototype', '{"constructor":{"prototype":{"x":1}}}', error(400, 'invalid_json')],
    ['empty', '', missing('messages')],
    ['null', 'null', missing('messages')],
    ['null messages', '{"messages":null,"stream":null}', missing('messages')],
    ['no fields', '{}', missing('messages')],
    ['no messages', '{"messages":[]}', missing('messages')],
    ['no user', '{"messages":[{"role":"system","content":"a"}]}', missing('messages')],
    ['an array', '[]', invalid('body')],
    ['a number', '7', invalid('body')],
    ['a string', '"messages"', invalid('body')],
    ['deep', deep, error(400, 'too_complex')],
    ['deep inside', `{"messages":${deep}}`, error(400, 'too_complex')],
    ['never closed', '['.repeat(10 * mebibyte), error(400, 'too_complex')],
    ['many values', `{"x":[${'{},'.repeat(200_000)}0]}`, error(400, 'too_complex')],
    ['deep at its end', `{"x":"${'\\"'.repeat(40_000)}","y":${deep}}`, error(400, 'too_complex')],
    ['half of a pair', of({}).replace('Hello', 'a \\ud800 b'), error(400, 'invalid_json')],
    ['the other half', of({}).replace('Hello', '\\uDC00'), error(400, 'invalid_json')],
    ['half of a pair as a name', '{"messages":[],"\\udfff":1}', error(400, 'invalid_json')],
    ['a reserved name', of({ x: [{ y: { $sealed: 1 } }] }), error(400, 'reserved_name')],
    [
      'a reserved name in escapes',
      of({ x: { NAME: 1 } }).replace('NAME', '\\u0024s\\u0065aled'),
      error(400, 'reserved_name'),
    ],
    [
      'a message of more than 1 MB',
      of({ messages: [{ role: 'user', content: 'a'.repeat(mebibyte + 1) }] }),
      error(413, 'payload_too_large'),
    ],
    [
      'a message of more than 1 MB in UTF-8',
      of({ messages: [{ role: 'user', content: '€'.repeat(mebibyte / 3 + 1) }] }),
      error(413, 'payload_too_large'),
    ],
    [
      'a system text of more than 1 MB',
      of({ messages: [{ role: 'system', content: 'a '.repeat(mebibyte) }, ...hello] }),
      error(413, 'payload_too_large'),
    ],
    [
      'texts of more than 4 MB',
      of({
        messages: [...Array(9)].map(() => ({ role: 'user', content: 'a'.repeat(mebibyte / 2) })),
      }),
      error(413, 'payload_too_large'),
    ],
    ['messages of another type', '{"messages":{}}', invalid('messages')],
    ['an unknown role', '{"messages":[{"role":"root","content":"a"}]}', invalid('messages.0.role')],
    ['no content', '{"messages":[{"role":"user"}]}', missing('messages.0.content')],
    ['session_id', of({ session_id: 'a/b' }), invalid('session_id')],
    ['long session_id', of({ session_id: 'a'.repeat(129) }), invalid('session_id')],
    ['huge session_id', of({ session_id: 'a'.repeat(mebibyte) }), invalid('session_id')],
    ['NUL in session_id', of({ session_id: 'a\0' }), invalid('session_id')],
    ['numeric session_id', of({ session_id: 1e308 }), invalid('session_id')],
    ['stream', of({ stream: 'yes' }), invalid('stream')],
    ['on_behalf_of', of({ on_behalf_of: ['a'] }), invalid('on_behalf_of')],
    ['huge on_behalf_of', of({ on_behalf_of: 'a'.repeat(mebibyte) }), error(404, 'user_not_found')],
    [
      'odd on_behalf_of',
      of({ on_behalf_of: '\0\ufffd/../__proto__' }),
      error(404, 'user_not_found'),
    ],
    ['target_agent_id', of({ target_agent_id: 'a' }), invalid('target_agent_id')],
    ['huge max_tokens', of({ max_tokens: 0 }).replace('0', '1e400'), invalid('max_tokens')],
    [
      'a huge message that does not pack',
      of({ messages: [{ role: 'user', content: randomBytes(2 * mebibyte).toString('base64') }] }),
      error(413, 'payload_too_large'),
    ],
  ]
  for (const [name, body, expected] of cases) {
    const answer = await post(body)
    t.match(answer, expected, name)
    t.ok(answer.status >= 400 && answer.status < 500, name)
  }
  const absent = { method: 'POST', headers: { 'x-api-key': headers['x-api-key'] } }
  t.match(await ask(chat, absent), missing('messages'), 'no body and no type')
})

t.test('unusual but valid requests are accepted', async (t) => {
  const { post, get } = await started(t)
  const fine = { status: 200, body: { object: 'chat.completion' } }
  const of = (fields: object) => JSON.stringify({ messages: hello, ...fields })
  for (const [name, body] of [
    ['unknown fields', of({ unknown: { deeply: [1] }, toString: 1, constructor: 2 })],
    [
      'deep unknown fields',
      `{"messages":${JSON.stringify(hello)},"x":${'['.repeat(63)}${']'.repeat(63)}}`,
    ],
    ['brackets in a string', of({ x: `${'[{'.repeat(100_000)}\\"` })],
    ['a pair in escapes', of({ x: 'PAIR' }).replace('PAIR', '\\ud83d\\ude00 \\\\ud800')],
    ['a reserved name as text', of({ x: ['$sealed', '{"$sealed":"a"}'], $sealedNot: 1 })],
    ['huge numbers', `{"messages":${JSON.stringify(hello)},"unknown":1e400,"user":-1e999}`],
    ['a body of 9 MB', of({ filler: 'a'.repeat(9 * mebibyte) })],
    ['a message of 1 MB', of({ messages: [{ role: 'user', content: 'a'.repeat(mebibyte) }] })],
  ] as const)
    t.match(await post(body), fine, name)
  const odd = 'a\0b \ufffd c \u2028 </script>'
  const body = of({ session_id: '__proto__', messages: [{ role: 'user', content: odd }] })
  t.match(await post(body, 'application/json; charset=utf-8'), fine)
  for (const type of ['json;charset=UTF8', 'json; charset="utf-8"; x=y', 'vnd.api+json'])
    t.match(await post(body, `application/${type}`), fine, type)
  const { body: read } = await get('/api/external/sessions/__proto__/messages')
  t.equal(read.messages[0].content, 'a\0b \ufffd c \u2028 </script>')
})

t.test('content types and sizes', async (t) => {
  const { post, ask, url, headers } = await started(t)
  for (const type of [
    'text/plain',
    'application/x-www-form-urlencoded',
    'multipart/form-data',
    ';;;',
    'application/jsonp',
    'json',
    'application/json; charset=utf-16',
    'application/json;charset="iso-8859-1"',
    'application/problem+json; version=1; Charset=windows-1252',
    'application/json; charset=',
  ])
    t.match(await post('{}', type), error(415, 'unsupported_media_type'), type)
  t.match(await post('', 'application/x-www-form-urlencoded'), error(400, 'missing_required_field'))
  const packed = { ...headers, 'content-encoding': 'gzip' }
  t.match(
    await ask(chat, { method: 'POST', headers: packed, body: gzipSync('{}') }),
    error(415, 'unsupported_media_type'),
    'compressed',
  )
  t.match(await post(Buffer.alloc(10 * mebibyte + 1, ' ')), error(413, 'payload_too_large'))
  // fetch reads no answer once its connection breaks: the refusal must come before the end of it.
  const body = Buffer.alloc(30 * mebibyte, ' ')
  for (const [sent, status] of [
    [headers, 413],
    [{ ...headers, 'x-api-key': 'none' }, 401],
  ] as const)
    for (let n = 0; n < 3; n++)
      t.equal(
        (await fetch(new URL(chat, url), { method: 'POST', headers: sent, body })).status,
        status,
      )
})

t.test('queries', async (t) => {
  const { get } = await started(t)
  const wrong = {
    page: [
      '0',
      '-1',
      'abc',
      '1.5',
      '',
      '1e400',
      '0x10',
      '%201',
      '%00',
      '9007199254740993',
      '1&page=2',
    ],
    page_size: ['0', '101', 'abc', '', '1e1'],
    include_hidden: ['maybe', '', '2', 'true&include_hidden=false', 'constructor'],
    on_behalf_of: ['', 'a&on_behalf_of=b'],
  }
  for (const [name, values] of Object.entries(wrong))
    for (const value of values)
      t.match(
        await get(`/api/external/sessions?${name}=${value}`),
        {
          status: 400,
          headers: { 'x-error-code': 'invalid_query' },
          body: { detail: { [name]: [String] } },
        },
        `${name}=${value}`,
      )
  t.strictSame((await get('/api/external/sessions?page=0&page_size=101')).body, {
    detail: {
      page: ['A whole number from 1 on is expected'],
      page_size: ['A whole number from 1 to 100 is expected'],
    },
  })
  for (const query of [
    'x=1&y=2',
    '__proto__=1',
    'page[]=1',
    '%ff=%fe',
    '&&&',
    '?',
    'page=9007199254740991',
    'include_hidden=FALSE',
  ])
    t.match(await get(`/api/external/sessions?${query}`), { status: 200 }, query)
})

t.test('addresses', async (t) => {
  const { get, ask, headers } = await started(t)
  const refused = (status: number, code: string) => ({ status, headers: { 'x-error-code': code } })
  for (const id of [
    '%00',
    '%zz',
    '%ff%fe',
    'a%2Fb',
    'a'.repeat(10_000),
    '..%2f..%2fadmin',
    'constructor',
  ]) {
    const expected = refused(404, 'session_not_found')
    t.match(await get(`/api/external/sessions/${id}/messages`), expected, id.slice(0, 20))
    const unasked = await ask(`/api/external/sessions/${id}/messages`)
    t.match(unasked, refused(401, 'missing_api_key'), 'who asks comes first')
  }
  for (const [path, status] of [
    ['/api/external', 404],
    ['/api/external/', 404],
    ['/api/external/nothing', 404],
    ['/api/external/%zz', 404],
    ['/api/external//sessions', 404],
    ['/api/external/sessions/', 200],
    ['/api/external/sessions?', 200],
    ['/api/external/v1/chat/completions', 405],
    ['/api/external/v1/chat/completions/', 405],
  ] as const) {
    t.match(await get(path), { status }, path)
    t.match(await ask(path), refused(401, 'missing_api_key'), `${path} without a key`)
  }
  for (const path of [
    '/',
    '/nothing',
    '/%zz',
    '/api/externals',
    '/API/EXTERNAL/sessions',
    '/docs/static/nothing',
    '/docs/static/..%2f..%2fpackage.json',
  ])
    t.match(await ask(path), error(404, 'not_found'), path)
  const method = (method: string, path = '/api/external/sessions') => ask(path, { method, headers })
  for (const name of ['POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS', 'TRACE', 'PROPFIND'])
    t.match(await method(name), {
      ...error(405, 'method_not_allowed'),
      headers: { 'x-error-code': 'method_not_allowed', allow: 'GET, HEAD' },
    })
  t.match(await method('DELETE', chat), {
    ...error(405, 'method_not_allowed', { param: null }),
    headers: { allow: 'POST' },
  })
  const expecting = { method: 'PUT', headers: { ...headers, expect: 'something' } }
  t.match(await ask('/api/external/sessions', expecting), error(405, 'method_not_allowed'))
  const head = await method('HEAD')
  t.match(head, { status: 200, text: '', headers: { 'x-ratelimit-limit': String } })
  t.match(await ask('/api/external/sessions', { method: 'HEAD' }), { status: 401, text: '' })
})

t.test('a path outside the files of the documentation answers 404', async (t) => {
  const { url } = await started(t)
  const { port, hostname } = new URL(url)
  for (const path of [
    '/docs/static/../..',
    '/docs/static/..',
    '/docs/static/../../package.json',
    '/docs/static/%2e%2e/%2e%2e',
    '/docs/static/%5c..%5c..',
  ]) {
    const socket = connect(Number(port), hostname)
    await once(socket, 'connect')
    socket.write(`GET ${path} HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n`)
    const answer = await text(socket)
    t.match(answer, /^HTTP\/1\.1 404 /, path)
    t.match(answer, '"code":"not_found"', path)
  }
})

t.test('bytes that are no HTTP request get a refusal in our shape', async (t) => {
  const { url } = await started(t)
  const { port, hostname } = new URL(url)
  const spoken = async (bytes: string) => {
    const socket = connect(Number(port), hostname)
    await once(socket, 'connect')
    socket.write(bytes)
    return text(socket)
  }
  for (const [bytes, status, code] of [
    ['hello\r\n\r\n', 400, 'malformed_request'],
    ['GET / HTTP/1.1\r\nConnection: close\r\n\r\n', 400, 'malformed_request'],
    ['GET / HTTP/1.1\r\nHost: a\r\nBad Header: 1\r\n\r\n', 400, 'malformed_request'],
    [`GET / HTTP/1.1\r\nHost: a\r\nX: ${'a'.repeat(20_000)}\r\n\r\n`, 431, 'headers_too_large'],
    [`GET /${'a'.repeat(20_000)} HTTP/1.1\r\nHost: a\r\n\r\n`, 431, 'headers_too_large'],
  ] as const) {
    const reply = await spoken(bytes)
    t.match(reply, new RegExp(`^HTTP/1.1 ${status} `), `${code}: ${reply.slice(0, 200)}`)
    t.match(reply, `"code":"${code}"`)
    t.match(reply, /^x-request-id: ./im)
  }
})

t.test('whatever the body is, it is answered in a documented shape', async (t) => {
  const { post } = await started(t)
  const body = fc.oneof(
    fc.json(),
    fc.uint8Array({ maxLength: 200 }).map((bytes) => Buffer.from(bytes)),
    fc
      .record(
        {
          messages: fc.anything(),
          stream: fc.anything(),
          session_id: fc.anything(),
          on_behalf_of: fc.anything(),
          stream_options: fc.anything(),
        },
        { requiredKeys: [] },
      )
      .map((value) =>
        JSON.stringify(value, (_, item) => (typeof item === 'bigint' ? Number(item) : item)),
      ),
  )
  await fc.assert(
    fc.asyncProperty(body, async (sent) => {
      const { status, headers, body: answer, text } = await post(sent)
      if (status === 200) return true
      if (status >= 500 || /node_modules|\bat .+:\d+:\d+/.test(text)) return false
      const { code = answer.error, message = answer.message } = answer.error
      return code === headers['x-error-code'] && typeof message === 'string'
    }),
    { numRuns: 60 },
  )
  t.pass()
})
