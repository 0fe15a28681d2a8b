import { type Bytes, fromBase64, joined, textOf } from './bytes.ts'
import { malformed, type Part, VerificationFailed, VerificationUnavailable } from './failure.ts'
import { hashSize } from './merkle.ts'
import { type Tile, tilePath } from './tiles.ts'

type Body = {
  getReader(): {
    read(): Promise<{ done: boolean; value?: Uint8Array | undefined }>
    cancel(): Promise<void>
  }
}

/** As much of `fetch` as is used: `globalThis.fetch` is one. */
export type Fetch = (
  url: string,
  init: { signal?: AbortSignal },
) => Promise<{ status: number; body: Body | null }>

/** The largest answers, in bytes. */
const most = {
  key: 4_096,
  checkpoint: 262_144,
  'consistency proof': 16_384,
  event: 32 * 1024 * 1024,
} as const

/** Answers to a request for what a signed checkpoint includes. */
const absent: ReadonlySet<number> = new Set([400, 404, 410])

type Request = { path: string; part: Part; limit: number; isSigned: boolean }

export type LogClient = {
  key(): Promise<string>
  checkpoint(): Promise<Bytes>
  consistency(from: number, to: number): Promise<Bytes[]>
  tile(level: number, tile: Tile): Promise<Bytes[]>
  /** The exported line of the event with this index, without its end. */
  line(index: number): Promise<Bytes>
}

type Log = {
  /** The path of the log: `/api/admin/organizations/<id>/audit`. */
  at: string
  fetch: Fetch
  signal?: AbortSignal | undefined
}

/**
 * Reads a transparency log over the API, no answer beyond its limit.
 * @throws VerificationFailed, VerificationUnavailable
 */
export const logClient = ({ at, fetch, signal }: Log): LogClient => {
  const interrupted = () =>
    new VerificationUnavailable({ reason: signal?.aborted ? 'aborted' : 'offline' })

  const get = async (path: string) => {
    try {
      return await fetch(`${at}/${path}`, signal ? { signal } : {})
    } catch {
      throw interrupted()
    }
  }

  const bytesOf = async (body: Body | null, { part, limit }: Request): Promise<Bytes> => {
    const reader = body?.getReader()
    const parts: Uint8Array[] = []
    let length = 0
    while (reader) {
      const { done, value } = await reader.read().catch(() => Promise.reject(interrupted()))
      if (done || !value) break
      length += value.length
      if (length > limit) {
        void reader.cancel().catch(() => undefined)
        throw malformed(part, `it has more than ${limit} bytes`)
      }
      parts.push(value)
    }
    return joined(...parts)
  }

  const read = async (request: Request): Promise<Bytes> => {
    const { status, body } = await get(request.path)
    if (status === 200) return bytesOf(body, request)
    void body
      ?.getReader()
      .cancel()
      .catch(() => undefined)
    if (request.isSigned && absent.has(status))
      throw new VerificationFailed({ reason: 'missing', part: request.part })
    throw new VerificationUnavailable({ reason: 'refused', status })
  }

  return {
    async key() {
      const part = 'key'
      const bytes = await read({ path: 'key', part, limit: most[part], isSigned: false })
      return textOf(bytes)?.replace(/\n$/, '') ?? ''
    },
    checkpoint() {
      const part = 'checkpoint'
      return read({ path: 'checkpoint', part, limit: most[part], isSigned: false })
    },
    async consistency(from, to) {
      const part = 'consistency proof'
      const path = `proofs/consistency?from=${from}&to=${to}`
      return hashesOf(await read({ path, part, limit: most[part], isSigned: true }))
    },
    async tile(level, tile) {
      const part = 'tile'
      const limit = tile.width * hashSize
      const path = `tile/${level}/${tilePath(tile)}`
      const bytes = await read({ path, part, limit, isSigned: true })
      if (bytes.length !== limit)
        throw malformed(part, `it has ${bytes.length} bytes instead of ${limit}`)
      return Array.from({ length: tile.width }, (_, n) =>
        bytes.slice(n * hashSize, (n + 1) * hashSize),
      )
    },
    async line(index) {
      const part = 'event'
      const path = `export?from=${index}&to=${index + 1}`
      const bytes = await read({ path, part, limit: most[part], isSigned: true })
      const newline = 0x0a
      if (bytes.indexOf(newline) !== bytes.length - 1 || bytes.length < 2)
        throw malformed(part, 'it is not one line')
      return bytes.slice(0, -1)
    },
  }
}

/** The hashes in the answer to a request for a proof. @throws VerificationFailed */
const hashesOf = (bytes: Bytes): Bytes[] => {
  const wrong = () => malformed('consistency proof', 'it is not a list of hashes')
  let answer: unknown
  try {
    answer = JSON.parse(textOf(bytes) ?? '')
  } catch {
    throw wrong()
  }
  const hashes =
    typeof answer === 'object' && answer !== null && 'hashes' in answer && answer.hashes
  if (!Array.isArray(hashes)) throw wrong()
  return hashes.map((base64: unknown) => {
    const hash = typeof base64 === 'string' ? fromBase64(base64) : undefined
    if (hash?.length !== hashSize) throw wrong()
    return hash
  })
}
