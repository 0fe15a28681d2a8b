import type { History } from '../../src/cli/audit/history.ts'
import { originOf } from '../../src/transparency/checkpoint.ts'
import { leafOfLine } from '../../src/transparency/leaf.ts'
import { leafHash, nodeHash, rootOf } from '../../src/transparency/merkle.ts'
import { signerOf } from '../../src/transparency/note.ts'
import { consistencyProof } from '../../src/transparency/proofs.ts'

const none = Buffer.alloc(0)

export const eventLine = (n: number): string =>
  `{"data":{"n":${n}},"id":"event-${n}","metadata":{"at":"2026-01-01T00:00:00.000Z"},` +
  `"position":${n * 3},"revision":${n},"stream":"box-org-1_b-1","type":"BoxOpened"}`

/** A history that is all in memory: the transparency log of org-1 with these events. */
export const heldHistory = (lines: readonly string[]): History => {
  const rows = [lines.map((line) => leafHash(leafOfLine(line)))]
  for (let row = rows[0] ?? []; row.length > 1; rows.push(row)) {
    const below = row
    row = Array.from({ length: row.length >> 1 }, (_, n) =>
      nodeHash(below[2 * n] ?? none, below[2 * n + 1] ?? none),
    )
  }
  const signer = signerOf(originOf('org-1'), Buffer.alloc(32, 7))
  return {
    key: async () => signer.vkey,
    checkpoint: async () =>
      signer.sign(`${signer.name}\n${lines.length}\n${rootOf(rows[0] ?? []).toString('base64')}\n`),
    hashes: async (level, from, to) => (rows[8 * level] ?? []).slice(from, to),
    async *lines(from, to) {
      for (let at = from; at < to; at += 100) yield lines.slice(at, Math.min(at + 100, to))
    },
    consistency: (from, to) =>
      consistencyProof(async (height, index) => rows[height]?.[index] ?? none, from, to),
    close: async () => undefined,
  }
}
