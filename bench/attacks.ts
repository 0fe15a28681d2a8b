import { attacks } from '../test/faults/attacks/attacks.ts'
import { chatLoad } from '../test/support/chat-load.ts'
import { forgetPeak, memoryOf, peakOf } from '../test/support/process-state.ts'
import { attackedServer, watchHealth } from '../test/support/under-attack.ts'
import type { Section } from './bench.ts'

/** Each attack is repeated for so long. */
const lastsMs = Number(process.env.ATTACKS_MS ?? 20_000)

/** Latency of health checks and growth of memory during all attacks, beside a chatting tenant. */
export const benchAttacks: Section = async () => {
  const closing: (() => unknown)[] = []
  try {
    const server = await attackedServer({ teardown: (close) => closing.push(close) })
    const { url, pid } = server
    const rounds = await Promise.all(Object.values(attacks).map((prepare) => prepare(server)))
    const tenant = await chatLoad(server)
    const idle = memoryOf(pid)
    forgetPeak(pid)
    const health = await watchHealth(url)
    const end = performance.now() + lastsMs
    let closed = 0
    const repeat = async (attack: () => Promise<void>): Promise<void> => {
      do
        await attack().catch(() => {
          closed++
        })
      while (performance.now() < end)
    }
    await Promise.all(rounds.map(repeat))
    const { p50, p99 } = await health.stop()
    const grown = peakOf(pid) - idle
    const { turns, longestMs } = await tenant.stop()
    await server.stop()
    const name = 'beside all attacks'
    return [
      { name: `health, p50, ${name}`, value: p50, unit: 'ms' },
      { name: `health, p99, ${name}`, value: p99, unit: 'ms', aim: { most: 200 } },
      { name: `memory, ${name}`, value: grown, unit: 'MB more', aim: { most: 500 } },
      {
        name: 'attacks that ended early, as the server closed their connection',
        value: closed,
        unit: '',
      },
      { name: `turns of another tenant, ${name}`, value: turns, unit: 'answered' },
      { name: `the slowest of these turns`, value: longestMs, unit: 'ms' },
    ]
  } finally {
    for (const close of closing.reverse()) await close()
  }
}
