import { signerOf } from '../../src/transparency/note.ts'
import { consistencyProof } from '../../src/transparency/proofs.ts'
import { parsedTilePath, tileWidth } from '../../src/transparency/tile.ts'
import { leavesTree } from './leaves-tree.ts'

export const origin = 'reprise/org-1'

/** The line of the event with this index; its position is a multiple of 10. */
export const lineAt = (index: number, name = `Name ${index}`): string =>
  JSON.stringify({
    data: { name },
    id: `event-${index}`,
    metadata: { at: '2026-01-01T00:00:00.000Z' },
    position: 10 * (index + 1),
    revision: index,
    stream: 'organization-org-1',
    type: 'OrganizationChanged',
  })

export const linesOf = (count: number): string[] =>
  Array.from({ length: count }, (_, n) => lineAt(n))

/** An event as the API lists it. */
export const listedAt = (index: number) => JSON.parse(lineAt(index))

type Answer = { status?: number; body: string | Uint8Array }

/** What a dishonest server answers; undefined: the truth. */
export type Dishonest = (path: string, truth: Answer) => Answer | undefined

/** A transparency log over HTTP, in memory. `serve` makes it dishonest from then on. */
export const logDouble = (lines: string[], seed = 7) => {
  const signer = signerOf(origin, Buffer.alloc(32, seed))
  const requests: string[] = []
  let dishonest: Dishonest = () => undefined

  const truth = async (path: string): Promise<Answer> => {
    const tree = leavesTree(lines)
    const { pathname, searchParams } = new URL(path, 'http://log/')
    const numbers = [...searchParams.values()].map(Number)
    const [from = 0, to = lines.length] = numbers
    if (pathname === '/key') return { body: `${signer.vkey}\n` }
    if (pathname === '/checkpoint') {
      const root = tree.root(lines.length).toString('base64')
      return { body: signer.sign(`${origin}\n${lines.length}\n${root}\n`) }
    }
    if (pathname === '/proofs/consistency') {
      if (to > lines.length) return { status: 400, body: '{}' }
      const proof = await consistencyProof(tree.nodes, from, to)
      return { body: JSON.stringify({ hashes: proof.map((hash) => hash.toString('base64')) }) }
    }
    if (pathname === '/export')
      return {
        body: lines
          .slice(from, to)
          .map((line) => `${line}\n`)
          .join(''),
      }
    const [, level = '', rest = ''] = /^\/tile\/(\d)\/(.+)$/.exec(pathname) ?? []
    const tile = parsedTilePath(rest)
    if (!tile) return { status: 404, body: '{}' }
    const first = tile.n * tileWidth
    const row = Array.from({ length: tile.width }, (_, n) =>
      tree.nodes(8 * Number(level), first + n),
    )
    return { body: Buffer.concat(await Promise.all(row)) }
  }

  return {
    signer,
    lines,
    requests,
    serve(answers: Dishonest) {
      dishonest = answers
    },
    fetch: async (url: string, { signal }: { signal?: AbortSignal } = {}) => {
      signal?.throwIfAborted()
      const path = url.replace('/audit/', '')
      requests.push(path)
      const honest = await truth(path)
      const { status = 200, body } = dishonest(path, honest) ?? honest
      return new Response(body, { status })
    },
  }
}

/** Storage as a browser has it. */
export const memoryDouble = (items = new Map<string, string>()) => ({
  items,
  getItem: (name: string) => items.get(name) ?? null,
  setItem: (name: string, value: string) => void items.set(name, value),
  removeItem: (name: string) => void items.delete(name),
})
