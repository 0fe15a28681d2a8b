import t from 'tap'
import { modelsOf } from '../../../src/turns/record/run-end.ts'

const price = { prompt: 1, completion: 2, list: 'configured' as const }

const use = (model: string, charge: number) => ({
  model,
  price,
  usage: { promptTokens: charge, completionTokens: 1 },
  charge,
})

t.test('what models used adds up to the charge of their run', async (t) => {
  t.strictSame(modelsOf([use('m/a', 5), use('m/b', 7)], 12), [
    { model: 'm/a', promptTokens: 5, completionTokens: 1, charge: 5, price },
    { model: 'm/b', promptTokens: 7, completionTokens: 1, charge: 7, price },
  ])
  t.strictSame(modelsOf([], 0), [])
})

t.test(
  'a run that is charged less than its answers cost takes it off the last models',
  async (t) => {
    const models = modelsOf([use('m/a', 5), use('m/b', 7), use('m/c', 1)], 8)
    t.strictSame(
      models.map(({ charge }) => charge),
      [5, 3, 0],
    )
  },
)
