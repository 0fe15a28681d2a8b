import { createHash } from 'node:crypto'
import fc from 'fast-check'
import t from 'tap'
import {
  completeRoot,
  leafHash,
  leafHashText,
  nodeHash,
  packedHashes,
  packedTexts,
  rootOf,
  unpackedHashes,
  unpackedTexts,
} from '../../src/transparency/merkle.ts'
import {
  consistencyProof,
  inclusionProof,
  isConsistent,
  type Nodes,
} from '../../src/transparency/proofs.ts'
import { consistentWith, includedIn, rootOfLeaves } from '../support/tree-verifier.ts'

/** The leaves and roots that implementations of RFC 6962 are tested by. */
const leaves = ['', '\0', '\x10', ' !', '01', '@ABC', 'PQRSTUVW', '`abcdefghijklmno']
const roots = [
  'e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855',
  '6e340b9cffb37a989ca544e6bb780a2c78901d3fb33738768511a30617afa01d',
  'fac54203e7cc696cf0dfcb42c92a1d9dbaf70ad9e621f4bd8d98662f00e3c125',
  'aeb6bcfe274b70a14fb067a5e5578264db0fa9b51af5e0ba159158f329e06e77',
  'd37ee418976dd95753c1c73862b9398fa2a2cf9b4ff0fdfe8b30cd95209614b7',
  '4e3bbb1f7b478dcfe71fb631631519a3bca12c9aefca1612bfce4c13a86264d4',
  '76e67dadbcdf1e10e1b74ddc608abd2f98dfb16fbce75277b5232a127f2087ef',
  'ddb89be403809e325750d3d263cd78929c2942b7942a34b77e122c9594a74c8c',
  '5dc9da79a70659a9ad559cb701ded9a2ab9d823aad2f4960cfe370eff4604328',
]

const hex = (hash: Buffer) => hash.toString('hex')

/** The nodes of a tree that is all in memory. */
const nodesOf = (hashes: readonly Buffer[]): Nodes => {
  const rows = [hashes]
  for (let row = hashes; row.length > 1; ) {
    row = Array.from({ length: row.length >> 1 }, (_, n) =>
      nodeHash(row[2 * n] ?? Buffer.of(), row[2 * n + 1] ?? Buffer.of()),
    )
    rows.push(row)
  }
  return async (height, index) => rows[height]?.[index] ?? Buffer.of()
}

t.test('roots are those of RFC 6962', async (t) => {
  for (const [size, root] of roots.entries())
    t.equal(hex(rootOf(leaves.slice(0, size).map(leafHash))), root, `${size} leaves`)
})

t.test('proofs are those of RFC 6962', async (t) => {
  const nodes = nodesOf(leaves.map(leafHash))
  const included = async (index: number, size: number) =>
    (await inclusionProof(nodes, index, size)).map(hex)
  t.strictSame(await included(0, 1), [])
  t.strictSame(await included(0, 8), [
    '96a296d224f285c67bee93c30f8a309157f0daa35dc5b87e410b78630a09cfc7',
    '5f083f0a1a33ca076a95279832580db3e0ef4584bdff1f54c8a360f50de3031e',
    '6b47aaf29ee3c2af9af889bc1fb9254dabd31177f16232dd6aab035ca39bf6e4',
  ])
  t.strictSame(await included(5, 8), [
    'bc1a0643b12e4d2d7c77918f44e0f4f79a838b6cf9ec5b5c283e1f4d88599e6b',
    'ca854ea128ed050b41b35ffc1b87b8eb2bde461e9e3b5596ece6b9d5975a0ae0',
    'd37ee418976dd95753c1c73862b9398fa2a2cf9b4ff0fdfe8b30cd95209614b7',
  ])
  const consistent = async (from: number, to: number) =>
    (await consistencyProof(nodes, from, to)).map(hex)
  t.strictSame(await consistent(1, 1), [])
  t.strictSame(await consistent(1, 8), [
    '96a296d224f285c67bee93c30f8a309157f0daa35dc5b87e410b78630a09cfc7',
    '5f083f0a1a33ca076a95279832580db3e0ef4584bdff1f54c8a360f50de3031e',
    '6b47aaf29ee3c2af9af889bc1fb9254dabd31177f16232dd6aab035ca39bf6e4',
  ])
  t.strictSame(await consistent(6, 8), [
    '0ebc5d3437fbe2db158b9f126a1d118e308181031d0a949f8dededebc558ef6a',
    'ca854ea128ed050b41b35ffc1b87b8eb2bde461e9e3b5596ece6b9d5975a0ae0',
    'd37ee418976dd95753c1c73862b9398fa2a2cf9b4ff0fdfe8b30cd95209614b7',
  ])
})

const someLeaves = fc.array(fc.string(), { minLength: 1, maxLength: 70 })

t.test('every event of every tree is proved, and no other in its place', async (t) => {
  await fc.assert(
    fc.asyncProperty(someLeaves, fc.nat(), fc.nat(), async (texts, first, second) => {
      const size = 1 + (first % texts.length)
      const index = second % size
      const hashes = texts.map(leafHash)
      const root = rootOfLeaves(texts.slice(0, size))
      const proof = await inclusionProof(nodesOf(hashes), index, size)
      const leaf = hashes[index] ?? Buffer.of()
      if (!includedIn({ leaf, index, size, proof, root })) return false
      const forged = createHash('sha256').update(leaf).digest()
      return (
        !includedIn({ leaf: forged, index, size, proof, root }) &&
        !includedIn({ leaf, index, size, proof: [...proof, forged], root })
      )
    }),
  )
  t.pass('for any number of leaves')
})

t.test('every tree is proved to be how a larger one began, and no other tree', async (t) => {
  await fc.assert(
    fc.asyncProperty(someLeaves, fc.nat(), fc.nat(), async (texts, first, second) => {
      const to = 1 + (first % texts.length)
      const from = second % (to + 1)
      const proof = await consistencyProof(nodesOf(texts.map(leafHash)), from, to)
      const before = rootOfLeaves(texts.slice(0, from))
      const after = rootOfLeaves(texts.slice(0, to))
      const forged = rootOfLeaves([...texts.slice(0, from), 'forged'])
      return [consistentWith, isConsistent].every(
        (check) =>
          check({ from, to, proof, before, after }) &&
          (from === 0 ||
            (!check({ from, to, proof, before: forged, after }) &&
              !check({ from, to, proof: [...proof, forged], before, after }))),
      )
    }),
  )
  t.pass('for any number of leaves')
})

t.test('hashes are packed and unpacked', async (t) => {
  const hashes = leaves.map(leafHash)
  t.strictSame(unpackedHashes(packedHashes(hashes)).map(hex), hashes.map(hex))
  t.strictSame(unpackedHashes(packedHashes([])), [])
})

t.test('hashes as text are the same hashes', async (t) => {
  const texts = leaves.map(leafHashText)
  const bytes = leaves.map(leafHash)
  t.equal(packedTexts(texts), packedHashes(bytes))
  t.strictSame(unpackedTexts(packedTexts(texts)), texts)
  t.strictSame(unpackedTexts(packedTexts([])), [])
  for (const size of [1, 2, 4, 8])
    t.equal(
      packedTexts([completeRoot(texts.slice(0, size))]),
      packedHashes([rootOf(bytes.slice(0, size))]),
    )
})
