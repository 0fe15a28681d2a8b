import t from 'tap'
import { ApiError, isTransient, messageOf, problemOf } from '../../console/src/api/problem.ts'

const shapes = [
  {
    title: 'a sentence as detail',
    body: { detail: 'Session not found or access denied' },
    message: 'Session not found or access denied',
    fields: {},
  },
  {
    title: 'an error with the field that it is about',
    body: { error: { message: 'Too long', type: 'x', code: 'y', param: 'name' } },
    message: 'Too long',
    fields: { name: 'Too long' },
  },
  {
    title: 'a code with a message',
    body: { error: 'insufficient_scopes', message: 'Needs admin:read' },
    message: 'Needs admin:read',
    fields: {},
  },
  {
    title: 'places of a body',
    body: { detail: [{ loc: ['body', 'files', 0, 'filename'], msg: 'Required', type: 'missing' }] },
    message: 'files.0.filename: Required',
    fields: { 'files.0.filename': 'Required' },
  },
  {
    title: 'parameters of a query',
    body: { detail: { page_size: ['At most 200', 'An integer'] } },
    message: 'page_size: At most 200, An integer',
    fields: { page_size: 'At most 200, An integer' },
  },
  {
    title: 'an error inside of detail',
    body: { detail: { error: { message: 'DataStore not found', type: 'x', code: 'y' } } },
    message: 'DataStore not found',
    fields: {},
  },
  { title: 'no JSON', body: undefined, message: 'The server answered 400', fields: {} },
  { title: 'an unknown shape', body: { wrong: 1 }, message: 'The server answered 400', fields: {} },
]

for (const { title, body, message, fields } of shapes)
  t.test(`reads the words of a refusal from ${title}`, async (t) => {
    const problem = problemOf(400, new Headers(), body)
    t.equal(problem.message, message)
    t.strictSame(problem.fields, fields)
  })

t.test('has code, request and delay from the headers', async (t) => {
  const headers = new Headers({
    'x-error-code': 'rate_limit_exceeded',
    'x-request-id': 'r1',
    'retry-after': '7',
  })
  t.match(problemOf(429, headers, {}), {
    status: 429,
    code: 'rate_limit_exceeded',
    requestId: 'r1',
    retryAfter: 7,
  })
  t.match(problemOf(500, new Headers(), {}), { code: 'unknown', retryAfter: undefined })
})

t.test('retries what a later attempt may change', async (t) => {
  const refused = (status: number) => new ApiError('x', { status, code: 'x' })
  t.strictSame(
    [400, 401, 403, 404, 429, 500, 503].map((status) => isTransient(refused(status))),
    [false, false, false, false, true, true, true],
  )
  t.ok(isTransient(new TypeError('Failed to fetch')))
})

t.test('says that the server cannot be reached', async (t) => {
  t.equal(messageOf(new TypeError('Failed to fetch')), 'The server cannot be reached')
  t.equal(messageOf(new Error('other')), 'other')
})
