import t from 'tap'
import { fused } from '../../src/rag/fused.ts'
import { likeness, quantized, unit, vectorBlob, vectorsIn } from '../../src/rag/vectors.ts'

const vector = (...numbers: number[]) => Float32Array.from(numbers)

t.test('vectors are stored and read again, alike as they were', async (t) => {
  const all = [vector(1, 2, 3), vector(-3, 0.5, 0), vector(0, 0, 0)]
  const blob = vectorBlob('u-1', 'acme/small', all.map(quantized))
  const vectors = vectorsIn(blob)
  if (!vectors) return t.fail('they are whole')
  t.match(vectors, { model: 'acme/small', dimensions: 3, lengths: { length: 3 } })
  const query = unit(vector(1, 2, 3))
  t.ok(Math.abs(likeness(vectors, 0, query) - 1) < 0.001)
  t.ok(Math.abs(likeness(vectors, 1, query) - -2 / (Math.sqrt(14) * Math.sqrt(9.25))) < 0.01)
  t.equal(likeness(vectors, 2, query), 0)
  t.equal(vectorsIn(blob.subarray(0, -1)), undefined)
  t.equal(vectorsIn(Buffer.from('{"model":"x"}\n')), undefined)
  t.equal(vectorsIn(Buffer.from('no line')), undefined)
  const other = vectorBlob('u-2', 'acme/small', all.map(quantized))
  t.notOk(blob.equals(other), 'no two are equal')
})

t.test('rankings become one by reciprocal rank', async (t) => {
  const ranking = (...ids: string[]) => ids.map((id, n) => ({ id, score: 10 - n }))
  const both = fused([ranking('a', 'b', 'c'), ranking('c', 'd', 'a')], ({ id }) => id)
  t.match(both, [
    { id: 'a', score: 1 / 61 + 1 / 63 },
    { id: 'c', score: 1 / 63 + 1 / 61 },
    { id: 'b', score: 1 / 62 },
    { id: 'd', score: 1 / 62 },
  ])
  t.strictSame(fused([[], []], String), [])
})
