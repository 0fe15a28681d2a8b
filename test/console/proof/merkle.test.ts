import fc from 'fast-check'
import t from 'tap'
import { fromBase64, toHex, utf8 } from '../../../console/src/proof/bytes.ts'
import { isConsistent, isIncluded, rootOf, treeHashes } from '../../../console/src/proof/merkle.ts'
import { consistencyProof, inclusionProof } from '../../../src/transparency/proofs.ts'
import { leavesTree } from '../../support/leaves-tree.ts'
import { rootOfLeaves } from '../../support/tree-verifier.ts'

const hashes = treeHashes(globalThis.crypto.subtle)
const bytes = (base64: string) => fromBase64(base64) ?? new Uint8Array()
const own = (buffer: Uint8Array) => new Uint8Array(buffer)

/** Test leaves of implementations of RFC 6962, with the roots over the first leaves. */
const leaves = ['', '\0', '\x10', ' !', '01', '@ABC', 'PQRSTUVW', '`abcdefghijklmno']
const roots: readonly string[] = [
  '47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU=',
  'bjQLnP+zepicpUTmu3gKLHiQHT+zNzh2hRGjBhevoB0=',
  '+sVCA+fMaWzw38tCySodnbr3CtnmIfS9jZhmLwDjwSU=',
  'rra8/idLcKFPsGel5VeCZNsPqbUa9eC6FZFY8yngbnc=',
  '037kGJdt2VdTwcc4Yrk5j6Kiz5tP8P3+izDNlSCWFLc=',
  'Tju7H3tHjc/nH7YxYxUZo7yhLJrvyhYSv85ME6hiZNQ=',
  'duZ9rbzfHhDht03cYIq9L5jfsW+851J3tSMqEn8gh+8=',
  '3bib5AOAnjJXUNPSY814kpwpQreUKjS3fhIslZSnTIw=',
  'XcnaeacGWamtVZy3Ad7ZoqudgjqtL0lgz+Nw7/RgQyg=',
]

/** Nodes of that tree, from the proofs of github.com/transparency-dev/merkle. */
const node = {
  leaf1: 'lqKW0iTyhcZ77pPDD4owkVfw2qNdxbh+QQt4YwoJz8c=',
  leaf2: 'ApjRIpBtz8EIkstTpzmS/FufST6kybrbJ7eRtBJ6f+c=',
  leaf4: 'vBoGQ7EuTS18d5GPROD095qDi2z57FtcKD4fTYhZnms=',
  leaf5: 'QnGia+DYqE8L1UyMMC58s6O10fpngKQLzOKHNHfatlg=',
  leaf6: 'sIaT7C5yFZcTBkHoIR5+7cy0wmQTlj7ubB4u0W/7Gl8=',
  from2to3: 'Xwg/ChozygdqlSeYMlgNs+DvRYS9/x9UyKNg9Q3jAx4=',
  from4to5: 'DrxdNDf74tsVi58Sah0RjjCBgQMdCpSfje3t68VY72o=',
  from4to7: 'a0eq8p7jwq+a+Im8H7klTavTEXfxYjLdaqsDXKOb9uQ=',
  from6to7: 'yoVOoSjtBQtBs1/8G4e46yveRh6eO1WW7Oa51ZdaCuA=',
}
const [
  ,
  root1 = '',
  root2 = '',
  root3 = '',
  root4 = '',
  root5 = '',
  root6 = '',
  root7 = '',
  root8 = '',
] = roots

const inclusions = [
  { leaf: root1, index: 0, size: 1, root: root1, proof: [] },
  {
    leaf: root1,
    index: 0,
    size: 8,
    root: root8,
    proof: [node.leaf1, node.from2to3, node.from4to7],
  },
  { leaf: node.leaf5, index: 5, size: 8, root: root8, proof: [node.leaf4, node.from6to7, root4] },
  { leaf: node.leaf2, index: 2, size: 3, root: root3, proof: [root2] },
  { leaf: node.leaf1, index: 1, size: 5, root: root5, proof: [root1, node.from2to3, node.leaf4] },
].map(({ leaf, root, proof, ...place }) => ({
  ...place,
  leaf: bytes(leaf),
  root: bytes(root),
  proof: proof.map(bytes),
}))

const consistencies = [
  { from: 1, to: 1, before: root1, after: root1, proof: [] },
  {
    from: 1,
    to: 8,
    before: root1,
    after: root8,
    proof: [node.leaf1, node.from2to3, node.from4to7],
  },
  { from: 6, to: 8, before: root6, after: root8, proof: [node.from4to5, node.from6to7, root4] },
  { from: 2, to: 5, before: root2, after: root5, proof: [node.from2to3, node.leaf4] },
  { from: 6, to: 7, before: root6, after: root7, proof: [node.from4to5, node.leaf6, root4] },
].map(({ before, after, proof, ...sizes }) => ({
  ...sizes,
  before: bytes(before),
  after: bytes(after),
  proof: proof.map(bytes),
}))

type Hash = (typeof inclusions)[number]['root']

const flipped = (hash: Hash, bit = 3): Hash =>
  hash.map((byte, n) => (n === 0 ? byte ^ (1 << bit) : byte))
const random = utf8('x'.repeat(32))

/** Proofs that differ from a right one. */
const wrongProofs = (proof: readonly Hash[], ...known: readonly Hash[]): Hash[][] => [
  ...known.flatMap((hash) => [
    [hash, ...proof],
    [...proof, hash],
  ]),
  [random, ...proof],
  [...proof, random],
  [...proof, new Uint8Array()],
  ...proof.map((hash, n) => proof.with(n, flipped(hash))),
  ...proof.map((_, n) => proof.toSpliced(n, 1)),
  ...proof.map((_, n) => proof.toSpliced(n, 0, random)),
  ...proof.map((hash, n) => proof.with(n, hash.slice(0, -1))),
]

t.test('roots are those of RFC 6962', async (t) => {
  for (const [size, root] of roots.entries()) {
    const row = await Promise.all(leaves.slice(0, size).map((leaf) => hashes.leaf(utf8(leaf))))
    t.strictSame(await rootOf(hashes, row), bytes(root), `${size} leaves`)
  }
})

t.test('known inclusion proofs hold, and no variation of them', async (t) => {
  for (const known of inclusions) {
    const { index, size, leaf, root, proof } = known
    t.equal(await isIncluded(hashes, known), true, `${index} in ${size}`)
    const wrong = [
      ...[index - 1, index + 1, index ^ 2].map((index) => ({ ...known, index })),
      ...[size * 2, Math.floor(size / 2), 0].map((size) => ({ ...known, size })),
      { ...known, leaf: random },
      { ...known, leaf: new Uint8Array() },
      { ...known, root: random },
      { ...known, root: new Uint8Array() },
      { ...known, root: flipped(root) },
      { ...known, index: size },
      ...wrongProofs(proof, root, leaf).map((proof) => ({ ...known, proof })),
    ]
    for (const [n, variation] of wrong.entries())
      t.equal(await isIncluded(hashes, variation), false, `variation ${n} of ${index} in ${size}`)
  }
})

t.test('known consistency proofs hold, and no variation of them', async (t) => {
  for (const known of consistencies) {
    const { from, to, before, after, proof } = known
    t.equal(await isConsistent(hashes, known), true, `${from} to ${to}`)
    const wrong = [
      ...[from + 1, from ^ 2, -1].map((from) => ({ ...known, from })),
      ...[to * 2, Math.floor(to / 2)].map((to) => ({ ...known, to })),
      { ...known, before: flipped(before) },
      { ...known, after: flipped(after) },
      { ...known, before: random },
      { ...known, after: random },
      { ...known, from: 0 },
      ...(from === to
        ? []
        : [
            { ...known, before: after, after: before },
            { ...known, proof: [] },
          ]),
      ...wrongProofs(proof, before, after).map((proof) => ({ ...known, proof })),
    ]
    for (const [n, variation] of wrong.entries())
      t.equal(await isConsistent(hashes, variation), false, `variation ${n} of ${from} to ${to}`)
  }
})

t.test('every history begins with the empty one', async (t) => {
  const [before, after] = [bytes(roots[0] ?? ''), bytes(root8)]
  const known = { from: 0, to: 8, before, after, proof: [] }
  t.equal(await isConsistent(hashes, known), true)
  t.equal(await isConsistent(hashes, { ...known, before: after }), false)
  t.equal(await isConsistent(hashes, { ...known, proof: [before] }), false)
})

t.test('a proof that is longer than the highest tree is refused without hashing', async (t) => {
  let calls = 0
  const node = async () => {
    calls++
    return random
  }
  const counting = { ...hashes, node }
  const proof = Array.from({ length: 10_000 }, () => random)
  const size = Number.MAX_SAFE_INTEGER
  const inclusion = { leaf: random, index: 0, size, proof, root: random }
  t.equal(await isIncluded(counting, inclusion), false)
  const consistency = { from: 3, to: size, before: random, after: random, proof }
  t.equal(await isConsistent(counting, consistency), false)
  t.equal(calls, 0)
})

const someLeaves = fc.array(fc.string(), { minLength: 1, maxLength: 70 })

t.test('proofs of any tree hold for its leaves and prefixes alone', async (t) => {
  await fc.assert(
    fc.asyncProperty(someLeaves, fc.nat(), fc.nat(), async (texts, sizeSeed, indexSeed) => {
      const size = 1 + (sizeSeed % texts.length)
      const index = indexSeed % size
      const root = own(rootOfLeaves(texts.slice(0, size)))
      const { nodes } = leavesTree(texts)
      const proof = (await inclusionProof(nodes, index, size)).map(own)
      const leaf = await hashes.leaf(utf8(texts[index] ?? ''))
      const known = { leaf, index, size, proof, root }
      const from = index
      const steps = (await consistencyProof(nodes, from, size)).map(own)
      const before = own(rootOfLeaves(texts.slice(0, from)))
      const prefix = { from, to: size, before, after: root, proof: steps }
      return (
        (await isIncluded(hashes, known)) &&
        !(await isIncluded(hashes, { ...known, leaf: flipped(leaf) })) &&
        !(await isIncluded(hashes, { ...known, proof: [...proof, random] })) &&
        (await isConsistent(hashes, prefix)) &&
        !(await isConsistent(hashes, { ...prefix, before: flipped(before) })) &&
        !(await isConsistent(hashes, { ...prefix, proof: [...steps, random] }))
      )
    }),
    { numRuns: 60 },
  )
  t.equal(
    toHex(await hashes.empty()),
    'e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855',
  )
})
