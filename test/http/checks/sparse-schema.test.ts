import fc from 'fast-check'
import t from 'tap'
import { z } from 'zod'
import { sparseSchema } from '../../../src/http/checks/sparse-schema.ts'
import { chatBody } from '../../../src/http/wire/chat.ts'
import { orAbsent } from '../../../src/http/wire/fields.ts'

const optional = Object.fromEntries(
  Array.from({ length: 12 }, (_, n) => [`field_${n}`, orAbsent(z.string())]),
)

/** Fields that are there as undefined are not there in JSON. */
const json = (value: unknown): unknown =>
  value === undefined ? value : JSON.parse(JSON.stringify(value))

t.test(
  'whatever is sent of a chat request, it is taken or refused as by the whole schema',
  async (t) => {
    const schemaFor = sparseSchema(chatBody)
    if (!schemaFor) throw new Error('chat requests have many fields')
    const anything = fc.oneof(
      fc.constantFrom(null, true, false, 0, 1, 'a', 'low', [], {}),
      fc.jsonValue({ maxDepth: 2 }),
    )
    const fields = Object.keys(chatBody.shape).map((name) => [name, anything] as const)
    const messages = fc.constantFrom([{ role: 'user', content: 'Hello' }], [], undefined, 5)
    const body = fc
      .record(Object.fromEntries(fields), { requiredKeys: [] })
      .chain((sent) =>
        messages.map((some) => (some === undefined ? sent : { ...sent, messages: some })),
      )
    fc.assert(
      fc.property(fc.oneof({ weight: 9, arbitrary: body }, anything), (value) => {
        const sparse = schemaFor(value).safeParse(value)
        const full = chatBody.safeParse(value)
        t.equal(sparse.success, full.success)
        t.strictSame(json(sparse.data), json(full.data))
        t.strictSame(sparse.error?.issues, full.error?.issues)
      }),
      { numRuns: 500 },
    )
  },
)

t.test(
  'a field with a default, and one that must be there, are looked at although absent',
  async (t) => {
    const schema = z.object({ ...optional, kind: z.string().default('plain'), name: z.string() })
    const schemaFor = sparseSchema(schema)
    const { data } = schemaFor?.({ name: 'x' }).safeParse({ name: 'x' }) ?? {}
    t.strictSame(data, { kind: 'plain', name: 'x' })
    t.notOk(schemaFor?.({}).safeParse({}).success)
  },
)

t.test('sets of fields that differ in any one of 53 are told apart', async (t) => {
  const fieldsOf = (count: number) =>
    z.object(
      Object.fromEntries(
        Array.from({ length: count }, (_, n) => [`field_${n}`, orAbsent(z.string())]),
      ),
    )
  t.equal(sparseSchema(fieldsOf(54)), undefined, 'and more are not')
  const schemaFor = sparseSchema(fieldsOf(53))
  const sent = Array.from({ length: 53 }, (_, n) => ({ [`field_${n}`]: 'x', field_0: 'x' }))
  for (const value of sent) t.strictSame(schemaFor?.(value).parse(value), value)
})

t.test(
  'objects with few fields, with checks of the whole, and that keep others are left as they are',
  async (t) => {
    t.equal(sparseSchema(z.string()), undefined)
    t.equal(sparseSchema(z.object({ name: orAbsent(z.string()) })), undefined)
    t.equal(sparseSchema(z.object(optional).refine(() => false)), undefined)
    t.equal(sparseSchema(z.looseObject(optional)), undefined)
    t.equal(sparseSchema(z.object(optional).transform((all) => all)), undefined)
    t.type(sparseSchema(z.object(optional)), 'function')
  },
)
