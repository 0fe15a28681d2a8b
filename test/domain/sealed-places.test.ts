import t from 'tap'
import { z } from 'zod'
import { sealed } from '../../src/domain/sealed.ts'
import { sealedPlaces } from '../../src/domain/sealed-places.ts'

t.test('places are found in objects and lists, also where they may be absent', async (t) => {
  const schema = z.object({
    plain: z.string(),
    text: sealed,
    maybe: sealed.optional().describe('A text'),
    none: sealed.nullable(),
    parts: z.array(z.object({ kind: z.string(), text: sealed })).optional(),
  })
  t.same(sealedPlaces(schema), {
    fields: new Map<string, unknown>([
      ['text', 'here'],
      ['maybe', 'here'],
      ['none', 'here'],
      ['parts', { items: { fields: new Map([['text', 'here']]) } }],
    ]),
  })
})

t.test('a value of any form has none', async (t) => {
  const any = z.object({ a: z.unknown(), b: z.json(), c: z.record(z.string(), z.unknown()) })
  for (const schema of [any, z.string(), z.array(z.any()), undefined, null])
    t.equal(sealedPlaces(schema), undefined)
})
