import type { Test } from 'tap'
import type { Row, Table } from './rows.ts'

/** One test for every row of a table, each under the row's name. */
export const covering = <Name extends Table>(
  t: Test,
  _table: Name,
  tests: Readonly<Record<Row<Name>, (t: Test) => Promise<unknown>>>,
): void => {
  for (const [row, test] of Object.entries<(t: Test) => Promise<unknown>>(tests))
    t.test(row, async (t) => void (await test(t)))
}
