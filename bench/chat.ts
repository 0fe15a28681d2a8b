import type { Section } from './bench.ts'
import { baselinesOf, chatRequest, productWith } from './contenders.ts'
import { alternately, load, medianOf } from './load.ts'

/** Whole answers of the offline model; every request begins a session. */
export const benchChat: Section = async (place) => {
  const { product, tenants } = await productWith(place, { name: 'chat' })
  const { bare, loop } = await baselinesOf(place, product, tenants)
  try {
    const requests = tenants.map((tenant) => chatRequest(tenant))
    const [ours, loops, bares] = await alternately([
      () => load(product, requests),
      () => load(loop, requests),
      () => load(bare, requests),
    ])
    const perSecond = medianOf(ours, (result) => result.perSecond)
    const cpu = medianOf(ours, (result) => result.cpu)
    const unit = 'req/s'
    const name = 'chat, offline model, 64 connections'
    return [
      {
        name: 'bare fastify, same bytes',
        value: medianOf(bares, (result) => result.perSecond),
        unit,
      },
      {
        name,
        value: perSecond,
        unit,
        against: {
          name: 'fastify + lmdb loop',
          value: medianOf(loops, (result) => result.perSecond),
        },
        aim: { least: 0.5 },
      },
      {
        name: 'chat, CPU of the server a request',
        value: cpu,
        unit: 'µs',
        against: { name: 'fastify + lmdb loop', value: medianOf(loops, (result) => result.cpu) },
        aim: { most: 2 },
      },
      { name: `${name}, p50`, value: medianOf(ours, (result) => result.p50), unit: 'ms' },
      { name: `${name}, p99`, value: medianOf(ours, (result) => result.p99), unit: 'ms' },
      {
        name,
        value: perSecond,
        unit,
        against: { name: 'LangGraph server, tuned (measured before)', value: 107 },
        aim: { least: 20 },
      },
      {
        name,
        value: perSecond,
        unit,
        against: { name: 'Mastra + libSQL (measured before)', value: 95 },
        aim: { least: 20 },
      },
    ]
  } finally {
    await Promise.all([product, bare, loop].map((server) => server.stop()))
  }
}
