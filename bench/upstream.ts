import type { Section } from './bench.ts'
import { chatRequest, productWith } from './contenders.ts'
import { alternately, load, medianOf } from './load.ts'
import { loadCore, serve } from './processes.ts'

/** Whole answers of a provider that answers at once, on the load generator's core. */
export const benchUpstream: Section = async (place) => {
  const provider = await serve({ script: 'baselines/upstream.js', core: loadCore })
  const env = { LLM_BASE_URL: `${provider.url}/v1`, LLM_MODEL: 'mock/model' }
  const { product, tenants } = await productWith(place, {
    name: 'upstream',
    env,
  })
  try {
    const requests = tenants.map((tenant) => chatRequest(tenant))
    const [ours] = await alternately([() => load(product, requests)])
    const name = 'chat through an OpenAI-compatible provider, 64 connections'
    return [
      {
        name,
        value: medianOf(ours, (one) => one.perSecond),
        unit: 'req/s',
        against: { name: 'Portkey gateway (measured before)', value: 870 },
        aim: { least: 2 },
      },
      { name: `${name}, CPU`, value: medianOf(ours, (one) => one.cpu), unit: 'µs' },
      { name: `${name}, p99`, value: medianOf(ours, (one) => one.p99), unit: 'ms' },
    ]
  } finally {
    await Promise.all([product, provider].map((server) => server.stop()))
  }
}
