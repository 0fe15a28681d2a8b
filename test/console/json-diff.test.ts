import fc from 'fast-check'
import t from 'tap'
import { type JsonChange, jsonChanges } from '../../console/src/components/json-diff.ts'

t.test('names each difference by its path', async (t) => {
  const before = { name: 'a', tools: [{ id: 1 }, { id: 2 }], gone: null, 'odd name': 1, same: [1] }
  const after = {
    name: 'b',
    tools: [{ id: 1 }, { id: 3 }, 'x'],
    'odd name': 2,
    same: [1],
    more: {},
  }
  t.strictSame(jsonChanges(before, after), [
    { kind: 'changed', path: 'name', before: 'a', after: 'b' },
    { kind: 'changed', path: 'tools[1].id', before: 2, after: 3 },
    { kind: 'added', path: 'tools[2]', after: 'x' },
    { kind: 'removed', path: 'gone', before: null },
    { kind: 'changed', path: '["odd name"]', before: 1, after: 2 },
    { kind: 'added', path: 'more', after: {} },
  ] satisfies JsonChange[])
})

t.test('compares values of different kinds as a whole', async (t) => {
  t.strictSame(jsonChanges({ a: [1] }, { a: { 0: 1 } }), [
    { kind: 'changed', path: 'a', before: [1], after: { 0: 1 } },
  ])
})

t.test('finds no difference of a value to its copy', async (t) => {
  fc.assert(
    fc.property(fc.jsonValue(), (value) => {
      const copy = () => JSON.parse(JSON.stringify(value))
      return jsonChanges(copy(), copy()).length === 0
    }),
    { numRuns: 100 },
  )
  t.pass()
})
