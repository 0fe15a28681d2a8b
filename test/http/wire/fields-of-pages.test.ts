import t from 'tap'
import { fuzzWorld } from '../../support/fuzz-world.ts'
import { contractOf, operationsOf } from '../../support/open-api.ts'
import { raw } from '../../support/raw.ts'
import { movableClock, startApp } from '../../support/server.ts'

const mostPages = Number.MAX_SAFE_INTEGER

t.test('pages of all lists are counted by one rule', async (t) => {
  const clock = movableClock()
  const { url, platform } = await startApp(t, {}, { clock })
  const { one: ids, keys } = await fuzzWorld(platform)
  const lists = operationsOf(await contractOf(url)).filter(({ operation }) =>
    operation.parameters?.some(({ name }) => name === 'page'),
  )
  t.ok(lists.length > 8)
  for (const { path } of lists) {
    const key = path.startsWith('/api/admin/') ? keys.platform : keys.own
    const ask = async (query: string) => {
      clock.advance(1_000)
      const at = path.replace(/\{(\w+)\}/g, (_, name: string) => ids[name] ?? '')
      return raw(url)(`${at}?${query}`, { headers: { 'x-api-key': key } })
    }
    const beyond = await ask(`page=${mostPages}`)
    t.equal(beyond.status, 200, `${path}: beyond the end`)
    const items = Object.values(beyond.body).find((value) => Array.isArray(value))
    t.strictSame(items, [], `${path}: nothing is there`)
    t.equal(beyond.body.has_next ?? beyond.body.has_more, false, `${path}: and nothing follows`)
    const wrong = [
      '0',
      '-1',
      '1.5',
      '1e3',
      '',
      'x',
      `${mostPages + 1}`,
      '9'.repeat(400),
      '1&page=2',
    ]
    for (const page of wrong)
      t.match(
        await ask(`page=${page}`),
        {
          status: 400,
          headers: { 'x-error-code': 'invalid_query' },
          body: { detail: { page: ['A whole number from 1 on is expected'] } },
        },
        `${path}: page=${page.slice(0, 20)}`,
      )
  }
})
