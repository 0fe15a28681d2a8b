import t from 'tap'
import { mutationsOf, sampleOf } from './points.ts'

/** The sources that the changes of a source come to. */
const changed = (source: string): string[] =>
  mutationsOf(source).map(
    ({ start, end, text }) => source.slice(0, start) + text + source.slice(end),
  )

for (const [title, source, mutations] of [
  ['a condition is negated', 'if (a) {}', ['if (!(a)) {}']],
  ['a sum becomes a difference', 'x = a + b', [';', 'x = a - b']],
  ['texts are not subtracted', 'const x = a + "b"', []],
  ['a bound moves by one', 'const x = a < b', ['const x = a <= b']],
  ['and becomes or', 'const x = a && b', ['const x = a || b']],
  ['a number grows by one', 'const x = 7', ['const x = (7 + 1)']],
  ['a flag is turned', 'const x = true', ['const x = false']],
  ['an await is left out', 'const x = await a()', ['const x = a()']],
  ['a statement is left out', 'a()', [';']],
  ['an error is not thrown', 'throw a', [';']],
  [
    'a function returns at once',
    'function f() { a() }',
    ['function f() { return; a() }', 'function f() { ; }'],
  ],
  ['a lambda returns nothing', 'const f = () => a', ['const f = () => undefined']],
  ['another code is refused', "const x = refusal('a')", ["const x = refusal('another_code')"]],
  ['other texts and names stay', "const x = { 1: 'a' }", []],
  ['types stay', 'type A = 1 | true; interface B { c: 7 }; let x: 7', []],
  ['imports stay', "import { a } from 'b'; export { c } from 'd'", []],
] as const)
  t.test(title, async (t) => {
    t.strictSame(changed(source), mutations)
  })

t.test('a change names its line and what it replaces', async (t) => {
  t.match(mutationsOf('const a = 1\nconst b =\n  2'), [
    { line: 1, change: '1 → (1 + 1)' },
    { line: 3, change: '2 → (2 + 1)' },
  ])
})

t.test('the same seed gives the same sample, without anything twice', async (t) => {
  const all = Array.from({ length: 100 }, (_, n) => n)
  const sample = sampleOf(all, 1, 30)
  t.strictSame(sampleOf(all, 1, 30), sample)
  t.notSame(sampleOf(all, 2, 30), sample)
  t.equal(new Set(sample).size, 30)
  t.strictSame(
    sampleOf(all, 1, 200).toSorted((a, b) => a - b),
    all,
  )
})
