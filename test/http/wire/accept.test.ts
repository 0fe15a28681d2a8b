import t from 'tap'
import { admits, prefers } from '../../../src/http/wire/accept.ts'

const [json, lines] = ['application/json', 'application/x-ndjson']

t.test('the most exact range says whether a type is admitted', async (t) => {
  for (const accept of [json, '*/*', '*', 'text/html, application/*;q=0.1', `${json};q=nonsense`])
    t.ok(admits(accept, json), accept)
  for (const accept of ['text/html', `*/*, ${json};q=0`, 'application/*;q=0.0', ''])
    t.notOk(admits(accept, json), accept)
})

t.test('a type is preferred that is named and wanted no less than the usual one', async (t) => {
  for (const accept of [
    lines,
    `${json}, ${lines}`,
    `${lines}, */*`,
    `${lines};q=0.2, ${json};q=0.1`,
  ])
    t.ok(prefers(accept, lines, json), String(accept))
  for (const accept of [undefined, '', '*/*', json, `${lines};q=0`, `${lines};q=0.5, ${json}`])
    t.notOk(prefers(accept, lines, json), String(accept))
})

t.test(
  'more ranges than a client has use for are not looked at, nor more parameters',
  async (t) => {
    const many = (count: number, separator: string) => Array(count).fill('a/b').join(separator)
    t.ok(admits(`${many(63, ',')},${json}`, json))
    t.notOk(admits(`${many(64, ',')},${json}`, json))
    t.notOk(admits(`${json};${many(14, ';')};q=0`, json))
    t.ok(admits(`${json};${many(15, ';')};q=0`, json))
  },
)
