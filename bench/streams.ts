import type { Section } from './bench.ts'
import { baselinesOf, chatRequest, productWith } from './contenders.ts'
import { alternately, medianOf } from './load.ts'
import { manyStreams } from './many-streams.ts'

/** Streamed answers of the offline model. */
export const benchStreams: Section = async (place) => {
  const { product, tenants } = await productWith(place, { name: 'streams' })
  const { bare, loop } = await baselinesOf(place, product, tenants)
  try {
    const requests = tenants.map((tenant) => chatRequest(tenant, { stream: true }))
    const [ours, loops, bares] = await alternately(
      [product, loop, bare].map((server) => () => manyStreams(server, requests)),
    )
    const unit = 'streams/s'
    const name = 'streams, 64 at once'
    return [
      {
        name: 'bare fastify, same stream',
        value: medianOf(bares, (result) => result.perSecond),
        unit,
      },
      {
        name,
        value: medianOf(ours, (result) => result.perSecond),
        unit,
        against: {
          name: 'fastify + lmdb loop',
          value: medianOf(loops, (result) => result.perSecond),
        },
      },
      {
        name: `${name}, CPU of the server`,
        value: medianOf(ours, (result) => result.cpu),
        unit: 'µs',
        against: { name: 'fastify + lmdb loop', value: medianOf(loops, (result) => result.cpu) },
        aim: { most: 2.5 },
      },
      {
        name: `${name}, tokens`,
        value: medianOf(ours, (result) => result.tokens),
        unit: 'tokens/s',
      },
      {
        name: `${name}, first token p50`,
        value: medianOf(ours, (result) => result.p50),
        unit: 'ms',
      },
      {
        name: `${name}, first token p99`,
        value: medianOf(ours, (result) => result.p99),
        unit: 'ms',
      },
    ]
  } finally {
    await Promise.all([product, bare, loop].map((server) => server.stop()))
  }
}
