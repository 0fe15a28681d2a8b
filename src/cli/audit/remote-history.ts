import { z } from 'zod'
import { linesOf } from '../../support/lines.ts'
import { hashesIn } from '../../transparency/merkle.ts'
import { tilePath, tileWidth } from '../../transparency/tile.ts'
import { CommandFailed } from '../command-failed.ts'
import { auditPath, replies } from '../remote.ts'
import type { History } from './history.ts'

const proof = z.object({
  hashes: z.array(z.base64().transform((text) => Buffer.from(text, 'base64'))),
})

type Where = { url: string; key: string; organization: string }

/** When the connection ends, the next run asks again for what was in transfer. */
async function* unbroken(bytes: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
  try {
    yield* bytes
  } catch (error) {
    const { cause = error } = error instanceof Error ? error : {}
    const why = cause instanceof Error ? cause.message : 'no reason was given'
    throw new CommandFailed(
      `the connection was lost (${why}): run the same command again to continue`,
    )
  }
}

/** The transparency log as a server serves it. @throws CommandFailed */
export const remoteHistory = ({ url, key, organization }: Where): History => {
  const ask = replies(url, key)
  const at = auditPath(organization)
  const text = async (path: string) => (await ask('GET', `${at}/${path}`)).text()
  return {
    key: async () => (await text('key')).trim(),
    checkpoint: () => text('checkpoint'),
    async hashes(level, from, to) {
      const n = Math.floor(from / tileWidth)
      const width = to - n * tileWidth
      const reply = await ask('GET', `${at}/tile/${level}/${tilePath({ n, width })}`)
      return hashesIn(Buffer.from(await reply.arrayBuffer())).slice(from - n * tileWidth)
    },
    async *lines(from, to) {
      const { body } = await ask('GET', `${at}/export?from=${from}&to=${to}`)
      if (body) yield* linesOf(unbroken(body))
    },
    async consistency(from, to) {
      const reply = await ask('GET', `${at}/proofs/consistency?from=${from}&to=${to}`)
      return proof.parse(await reply.json()).hashes
    },
    close: async () => undefined,
  }
}
