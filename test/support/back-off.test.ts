import t from 'tap'
import { backOff } from '../../src/support/back-off.ts'

t.test('the pause doubles with each failure, up to the bound', async (t) => {
  t.strictSame(
    [0, 1, 2].map((failures) => backOff(failures)),
    [50, 100, 200],
  )
  t.equal(backOff(6), 3_200, 'the last below the bound')
  t.equal(backOff(7), 5_000, 'bounded')
  t.equal(backOff(5, 1_000), 1_000, 'another bound')
})
