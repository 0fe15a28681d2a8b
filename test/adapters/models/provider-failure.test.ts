import t from 'tap'
import {
  ContextTooLong,
  type ModelFault,
  ModelMisconfigured,
  ModelUnavailable,
} from '../../../src/ports/model.ts'
import { modelOf, textIn } from '../../support/provider-chunks.ts'

const data = (value: unknown) => `data: ${JSON.stringify(value)}`

type Failing = {
  frame: unknown
  error: typeof ModelFault | typeof ModelUnavailable
  requests: number
}

const tooLong = { error: ContextTooLong, requests: 1 }
const faulty = { error: ModelMisconfigured, requests: 1 }
const passing = { error: ModelUnavailable, requests: 3 }

const message = "This model's maximum context length is 8192 tokens."

const frames: Record<string, Failing> = {
  'OpenAI: too long': {
    frame: { error: { message, type: 'invalid_request_error', code: 'context_length_exceeded' } },
    ...tooLong,
  },
  'vLLM: too long': {
    frame: { error: { message, type: 'BadRequestError', param: null, code: 400 } },
    ...tooLong,
  },
  'older vLLM: too long': {
    frame: { object: 'error', message, type: 'BadRequestError', param: null, code: 400 },
    ...tooLong,
  },
  'LiteLLM: too long': {
    frame: { error: { message: 'ContextWindowExceededError', type: 'None', code: '400' } },
    ...tooLong,
  },
  'llama.cpp: too long': {
    frame: {
      error: {
        code: 500,
        message: 'the request exceeds the available context size.',
        type: 'exceed_context_size_error',
      },
    },
    ...tooLong,
  },
  'OpenRouter: too long': {
    frame: {
      choices: [{ index: 0, delta: { content: '' }, finish_reason: 'error' }],
      error: { code: 400, message: 'prompt is too long: 1284668 tokens > 1000000 maximum' },
    },
    ...tooLong,
  },
  'Gemini: too long': {
    frame: [
      {
        error: {
          code: 400,
          message: 'The input token count (1200000) exceeds the maximum number of tokens allowed',
          status: 'INVALID_ARGUMENT',
        },
      },
    ],
    ...tooLong,
  },
  'a wrong request': {
    frame: { error: { type: 'invalid_request_error', message: 'x' } },
    ...faulty,
  },
  'a wrong request, as a text': { frame: { error: 'x', code: 422 }, ...faulty },
  'a wrong key': { frame: { error: { code: 'invalid_api_key', message: 'x' } }, ...faulty },
  'an unknown model': { frame: { error: { code: 'model_not_found', message: 'x' } }, ...faulty },
  'a filter of Alibaba': {
    frame: { error: { code: 'data_inspection_failed', message: 'x', type: 'None' } },
    ...faulty,
  },
  'a filter of Azure': {
    frame: { error: { code: 'ResponsibleAIPolicyViolation', message: 'x' } },
    ...faulty,
  },
  'a word of Google': {
    frame: { error: { status: 'PERMISSION_DENIED', message: 'x' } },
    ...faulty,
  },
  'too many requests': { frame: { error: { type: 'rate_limit_error', message: 'x' } }, ...passing },
  'an overload': { frame: { type: 'error', error: { type: 'overloaded_error' } }, ...passing },
  'a failure upstream': { frame: { error: { code: 502, message: 'x' }, choices: [] }, ...passing },
  'an error of the choice': {
    frame: { choices: [{ index: 0, delta: {}, error: { code: 503, message: 'x' } }] },
    ...passing,
  },
  'an error that is its own message': {
    frame: { type: 'error', code: 'invalid_api_key', message: 'x' },
    ...faulty,
  },
  'an unknown error': { frame: { error: { message: 'x' } }, ...passing },
}

for (const [what, { frame, error: kind, requests }] of Object.entries(frames))
  t.test(`an error in the stream is treated as by its status: ${what}`, async (t) => {
    const replies = [
      { raw: `${data(frame)}\n\n` },
      { raw: `event: error\n${data(frame)}\n\n` },
      { raw: JSON.stringify(frame), headers: { 'content-type': 'application/json' } },
    ]
    for (const reply of replies) {
      const { ask, requestCount } = await modelOf(t, [reply, reply, reply])
      await t.rejects(ask(), kind)
      t.equal(requestCount(), requests)
    }
  })

t.test('an error event that is no JSON is a failure of the provider', async (t) => {
  const reply = { raw: 'event: error\ndata: upstream error: read ECONNRESET\n\n' }
  const { ask, requestCount } = await modelOf(t, [reply, reply, { text: 'At last' }])
  t.equal(textIn(await ask()), 'At last')
  t.equal(requestCount(), 3)
})
