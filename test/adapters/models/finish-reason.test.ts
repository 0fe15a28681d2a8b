import t from 'tap'
import { ModelFault, ModelUnavailable } from '../../../src/ports/model.ts'
import { chunk, endsWith, modelOf, sse } from '../../support/provider-chunks.ts'

t.test('finish reasons', async (t) => {
  const finish = async (reason: string, delta: object = { content: 'Hi' }) => {
    const raw = sse(chunk(delta), endsWith(reason))
    const reply = { raw }
    const unknown: string[] = []
    const onUnknownReason = (word: string) => unknown.push(word)
    const { ask, requestCount } = await modelOf(t, [reply, reply, reply], { onUnknownReason })
    const events = await ask().catch((error: Error) => error)
    return { events, requests: requestCount(), unknown }
  }
  const reasonOf = async (reason: string, delta?: object) => {
    const { events, unknown } = await finish(reason, delta)
    if (events instanceof Error) throw events
    const last = events.at(-1)
    return last?.type === 'done' ? [last.finishReason, ...unknown] : []
  }

  t.test('other words for an end are understood', async (t) => {
    for (const reason of ['stop', 'STOP', 'end_turn', 'eos_token', 'stop_sequence'])
      t.strictSame(await reasonOf(reason), ['stop'], reason)
    for (const reason of ['length', 'model_length', 'MAX_TOKENS', 'max_tokens'])
      t.strictSame(await reasonOf(reason), ['length'], reason)
    for (const reason of [
      'content_filter',
      'SAFETY',
      'RECITATION',
      'content_filter: PROHIBITED_CONTENT',
      'sensitive',
    ])
      t.strictSame(await reasonOf(reason), ['content_filter'], reason)
  })

  t.test('failures of the provider fail', async (t) => {
    for (const reason of ['error', 'insufficient_system_resource', 'network_error']) {
      const { events, requests } = await finish(reason)
      t.ok(events instanceof ModelUnavailable, reason)
      t.equal(requests, 1, 'no retry after output')
      t.equal((await finish(reason, {})).requests, 3, 'retries before output')
    }
    const { events, requests } = await finish('function_call_filter: MALFORMED_FUNCTION_CALL', {})
    t.ok(events instanceof ModelFault)
    t.equal(requests, 1)
  })

  t.test('an unknown reason is reported, and ends a complete answer only', async (t) => {
    const call = (args: string) => ({
      tool_calls: [{ index: 0, id: 'a', function: { name: 'now', arguments: args } }],
    })
    t.strictSame(await reasonOf('OTHER'), ['stop', 'OTHER'])
    t.strictSame(await reasonOf('OTHER', call('{}')), ['tool_calls', 'OTHER'])
    for (const delta of [{}, call('{"a":')]) {
      const { events, unknown, requests } = await finish('OTHER', delta)
      t.ok(events instanceof ModelFault)
      t.strictSame(unknown, ['OTHER'])
      t.equal(requests, 1)
    }
  })
})
