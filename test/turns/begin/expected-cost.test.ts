import t from 'tap'
import { silent } from '../../../src/ports/log.ts'
import {
  type ContentPart,
  ModelMisconfigured,
  type Models,
  type PartFacts,
} from '../../../src/ports/model.ts'
import { expectedCost } from '../../../src/turns/begin/expected-cost.ts'
import type { TurnRequest } from '../../../src/turns/turn.ts'
import { agentNamed } from '../../support/agents.ts'
import { turnRequest } from '../../support/turn-request.ts'

const price = { prompt: 3, completion: 5 }
const models = { resolve: () => ({ price }) } as unknown as Models
const reserve = expectedCost({ models, log: silent })

/** The request without anything: the expected answer alone is charged. */
const empty = turnRequest({ message: '' })
const answer = 1_024 * price.completion

const facts: PartFacts = { kind: 'file', mediaType: 'text/plain', bytes: 2_000, at: 0 }
const part: ContentPart = { ...facts, async *read() {} }
const arrived = { ...facts, hash: 'h', async *read() {} }
const specs = [{ name: 'look', description: 'looks', parameters: {} }]
const call = { id: 'call-1', name: 'look', arguments: '{}' }

const result = (content: string) => ({ toolId: 'call-1', content })

/** Each term of the prompt alone, in pieces of text and tokens of files. */
const terms: readonly [string, Partial<TurnRequest>, number][] = [
  ['nothing', {}, 0],
  ['the message', { message: 'one two three' }, 3],
  ['system messages', { system: [{ role: 'system', content: 'one two' }] }, 2],
  ['earlier messages', { before: [{ role: 'user', content: 'one two, four' }] }, 4],
  [
    'what was said with calls',
    { before: [{ role: 'assistant', content: 'one', toolCalls: [call] }] },
    1,
  ],
  ['files of the message', { files: { parts: [arrived, arrived] } }, 2 * 502],
  ['files of earlier messages', { before: [{ role: 'user', content: '', parts: [part] }] }, 502],
  ['results', { results: [result('one two')] }, 2],
  [
    'what was answered elsewhere',
    { after: [{ role: 'tool', toolCallId: 'call-1', name: 'look', content: 'one' }] },
    1,
  ],
  // `[{"name":"look","description":"looks","parameters":{}}]`
  ['the client’s tools', { clientTools: { specs } }, 28],
  // `{"type":"json_object"}`
  ['the format of the answer', { format: { type: 'json_object' } }, 11],
]
for (const [title, more, tokens] of terms)
  t.test(`holds back the prompt and the expected answer: ${title}`, async (t) => {
    t.equal(reserve({ ...empty, ...more }), tokens * price.prompt + answer)
  })

t.test('adds up all terms', async (t) => {
  const request = {
    ...empty,
    message: 'one two three',
    system: [{ role: 'system' as const, content: 'one two' }],
    before: [{ role: 'user' as const, content: 'one', parts: [part] }],
    files: { parts: [arrived] },
    results: [result('one')],
    clientTools: { specs },
    format: { type: 'json_object' as const },
  }
  t.equal(reserve(request), (3 + 2 + 1 + 502 + 502 + 1 + 28 + 11) * price.prompt + answer)
})

t.test('holds back the longest answer that the settings allow', async (t) => {
  t.equal(reserve({ ...empty, settings: { maxTokens: 7 } }), 7 * price.completion)
  t.equal(reserve({ ...empty, agent: agentNamed('A', { maxTokens: 9 }) }), 9 * price.completion)
})

t.test('holds back at most the limit of the run, and rounds fractions up', async (t) => {
  const small = { ...empty, settings: { maxTokens: 1 } }
  t.equal(reserve({ ...small, limits: { charge: 4 } }), 4)
  t.equal(reserve({ ...small, limits: { charge: 6 } }), 5)
  const cheap = {
    resolve: () => ({ price: { prompt: 0.1, completion: 0.1 } }),
  } as unknown as Models
  t.equal(expectedCost({ models: cheap, log: silent })({ ...small, message: 'one' }), 1)
})

t.test('refuses a turn whose model has no provider', async (t) => {
  const errors: unknown[] = []
  const resolve = () => {
    throw new ModelMisconfigured('there is none')
  }
  const log = { error: (fields: unknown) => errors.push(fields) }
  t.throws(() => expectedCost({ models: { resolve }, log })(empty), { code: 'model_misconfigured' })
  t.match(errors, [{ agent_id: 'a', reqId: empty.call.requestId }])
})
