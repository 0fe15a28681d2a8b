import { Ajv2020 } from 'ajv/dist/2020.js'
import t from 'tap'
import { smallestValue } from '../../../src/adapters/models/smallest-value.ts'
import { formats } from '../../support/open-api.ts'

const ajv = new Ajv2020({ strict: false, formats })

t.test('the smallest value that fits', async (t) => {
  const schemas: [schema: object, value: unknown][] = [
    [{ type: 'string' }, ''],
    [{ type: 'string', minLength: 3 }, 'aaa'],
    [{ type: 'string', format: 'date' }, '2000-01-01'],
    [{ type: ['null', 'integer'] }, 0],
    [{ type: 'integer', minimum: 1.5 }, 2],
    [{ type: 'integer', exclusiveMinimum: 4 }, 5],
    [{ type: 'integer', maximum: -3, multipleOf: 2 }, -4],
    [{ type: 'number', minimum: 0.5 }, 0.5],
    [{ type: 'number', exclusiveMaximum: 0 }, -0.5],
    [{ type: 'boolean' }, false],
    [{ enum: ['b', 'a'] }, 'b'],
    [{ const: 7 }, 7],
    [{ type: 'string', default: 'd' }, 'd'],
    [{ anyOf: [{ type: 'string' }, { type: 'null' }] }, null],
    [{ oneOf: [{ type: 'integer' }, { type: 'string' }] }, 0],
    [{ allOf: [{ type: 'string' }, { minLength: 2 }] }, 'aa'],
    [{ type: 'array', items: { type: 'integer' }, minItems: 2 }, [0, 0]],
    [{ prefixItems: [{ const: 'x' }], items: { type: 'null' }, minItems: 2 }, ['x', null]],
    [
      {
        type: 'object',
        properties: { a: { $ref: '#/$defs/b' }, c: { type: 'string' } },
        required: ['a', 'unknown'],
        $defs: { b: { type: 'object', properties: { d: { type: 'boolean' } }, required: ['d'] } },
      },
      { a: { d: false }, unknown: '' },
    ],
  ]
  for (const [schema, value] of schemas) {
    t.strictSame(smallestValue(schema), value, JSON.stringify(schema))
    t.ok(ajv.validate(schema, value), 'fits')
  }
})

t.test('a given value stays', async (t) => {
  const schema = { type: 'object', required: ['a', 'b'], properties: { b: { type: 'null' } } }
  t.strictSame(smallestValue(schema, { a: 1 }), { a: 1, b: null })
})

t.test('schemas that refer to themselves, and such as grow, end', async (t) => {
  const self = { $ref: '#' }
  t.equal(smallestValue(self), null)
  const tree = { type: 'object', required: ['a', 'b'], properties: { a: self, b: self } }
  t.ok(JSON.stringify(smallestValue(tree)).length < 1_000_000)
  const lists = { type: 'array', minItems: 1e9, items: { $ref: '#' } }
  t.ok(JSON.stringify(smallestValue(lists)).length < 1_000_000)
  t.ok(JSON.stringify(smallestValue({ type: 'string', minLength: 1e12 })).length < 100_000)
})

t.test(
  'a reference is looked up once, however long it is and however often it comes',
  async (t) => {
    let lookedUp = 0
    const schema = {
      type: 'array',
      minItems: 5_000,
      items: { $ref: `#/$defs${'/'.repeat(60_000)}a` },
      get $defs() {
        lookedUp++
        return { a: { type: 'integer' } }
      },
    }
    const value = smallestValue(schema) as unknown[]
    t.equal(value.length, 5_000)
    t.equal(value[0], 0)
    t.ok(lookedUp <= 2, 'once, and once where the schema is copied')
  },
)

t.test('values, names and copied parts of a schema are counted each time', async (t) => {
  const long = 'x'.repeat(9_000)
  const item = { type: 'object', required: [long] }
  const wide = { allOf: Array(2_000).fill({ title: 'x' }), $ref: undefined }
  for (const items of [{ const: long }, { enum: [long] }, { default: long }, item, wide]) {
    const text = JSON.stringify(smallestValue({ type: 'array', minItems: 10_000, items }))
    t.ok(text.length < 100_000, `${text.length} characters`)
  }
})
