import t, { type Test } from 'tap'
import { embedderFrom } from '../../../src/adapters/models/registry.ts'
import { configFrom } from '../../../src/config.ts'
import {
  ModelFault,
  ModelMisconfigured,
  ModelTimeout,
  ModelUnavailable,
} from '../../../src/ports/model.ts'
import { providerDouble } from '../../support/provider-double.ts'

const transport = { connectMs: 300, firstMs: 300, idleMs: 300, backOffMs: 1 }

const opened = async (t: Test, more: object = {}) => {
  const provider = await providerDouble()
  const embedder = embedderFrom(
    { baseUrl: provider.url, apiKey: 'k', model: 'acme/large', transport, ...more },
    'small',
  )
  t.teardown(async () => {
    await embedder.close()
    await provider.close()
  })
  return { provider, embedder }
}

t.test('a vector for each text, in their order', async (t) => {
  const { provider, embedder } = await opened(t)
  const [car, automobile, doctor] = await embedder.embed(['car', 'automobile', 'doctor'])
  t.strictSame(car, automobile)
  t.notSame(car, doctor)
  t.match(provider.requests, [
    {
      path: '/v1/embeddings',
      headers: { authorization: 'Bearer k' },
      body: { model: 'small', input: ['car', 'automobile', 'doctor'], encoding_format: 'float' },
    },
  ])
  t.equal(embedder.name, 'acme/small')
})

t.test('retries temporary failures only', async (t) => {
  const { provider, embedder } = await opened(t)
  provider.nextEmbedding({ status: 503 }, { status: 429, headers: { 'retry-after': '0' } })
  t.equal((await embedder.embed(['car'])).length, 1)
  t.equal(provider.requests.length, 3)
  for (const [reply, error] of [
    [{ status: 401 }, ModelMisconfigured],
    [{ raw: '<html>' }, ModelFault],
    [{ raw: '{"data":[]}' }, ModelFault],
    [{ raw: '{"data":[{"index":1,"embedding":[1]}]}' }, ModelFault],
    [{ raw: '{"data":[{"index":0,"embedding":["x"]}]}' }, ModelFault],
    [{ silent: true }, ModelTimeout],
    [{ status: 503, headers: { 'retry-after': '60' } }, ModelUnavailable],
  ] as const) {
    const before = provider.requests.length
    provider.nextEmbedding(reply)
    await t.rejects(embedder.embed(['car']), error)
    t.equal(provider.requests.length, before + 1)
  }
  await t.rejects(
    embedder.embed(['a', 'b'].map(() => 'car')).then(() => {
      provider.nextEmbedding({
        raw: '{"data":[{"index":0,"embedding":[1]},{"index":1,"embedding":[1,2]}]}',
      })
      return embedder.embed(['car', 'doctor'])
    }),
    ModelFault,
    'of one dimension',
  )
})

t.test('the caller says how long it waits', async (t) => {
  const { provider, embedder } = await opened(t, {
    transport: { ...transport, firstMs: 60_000 },
  })
  provider.nextEmbedding({ silent: true })
  await t.rejects(embedder.embed(['car'], 20), ModelTimeout)
  await provider.requests[0]?.aborted
  t.pass('and the request is given up')
})

t.test('a provider that keeps failing is left alone', async (t) => {
  const { provider, embedder } = await opened(t, { transport: { ...transport, retries: 0 } })
  provider.embeddings({ status: 500 })
  for (let n = 0; n < 7; n++) await t.rejects(embedder.embed(['car']), ModelUnavailable)
  t.equal(provider.requests.length, 5)
})

t.test('the model has to be one of a configured provider', async (t) => {
  t.throws(() => embedderFrom({}, 'openai/small'), ModelMisconfigured)
  t.throws(
    () => embedderFrom({ baseUrl: 'http://127.0.0.1:1/v1' }, 'other/small'),
    ModelMisconfigured,
  )
  t.throws(() => configFrom({ EMBEDDING_MODEL: 'small' }), /EMBEDDING_MODEL: needs a provider/)
})
