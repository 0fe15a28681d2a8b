import type { Section } from './bench.ts'
import { chatRequest, productWith } from './contenders.ts'
import { alternately, load, medianOf } from './load.ts'
import { portkeyRequest, servePortkey } from './portkey.ts'
import { loadCore, type Serving, serve } from './processes.ts'

const measuredBefore = { name: 'Portkey gateway (measured before)', value: 870 }

/** Whole answers of a provider that answers at once, on the load generator's core. */
export const benchUpstream: Section = async (place) => {
  const provider = await serve({ script: 'baselines/upstream.js', core: loadCore })
  const env = { LLM_BASE_URL: `${provider.url}/v1`, LLM_MODEL: 'mock/model' }
  const { product, tenants } = await productWith(place, { name: 'upstream', env })
  const portkey = await servePortkey()
  try {
    const requests = tenants.map((tenant) => chatRequest(tenant))
    const passed = requests.map(() => portkeyRequest(provider))
    const [ours, theirs] = await alternately([
      () => load(product, requests),
      ...(portkey ? [() => load(portkey, passed)] : []),
    ])
    const name = 'chat through an OpenAI-compatible provider, 64 connections'
    return [
      {
        name,
        value: medianOf(ours, (result) => result.perSecond),
        unit: 'req/s',
        against: portkey
          ? { name: 'Portkey gateway', value: medianOf(theirs, (result) => result.perSecond) }
          : measuredBefore,
        aim: { least: 1.2 },
      },
      {
        name: `${name}, CPU`,
        value: medianOf(ours, (result) => result.cpu),
        unit: 'µs',
        ...(portkey && {
          against: { name: 'Portkey gateway', value: medianOf(theirs, (result) => result.cpu) },
        }),
      },
      { name: `${name}, p99`, value: medianOf(ours, (result) => result.p99), unit: 'ms' },
    ]
  } finally {
    const servers: (Serving | undefined)[] = [product, portkey, provider]
    await Promise.all(servers.map((server) => server?.stop()))
  }
}
