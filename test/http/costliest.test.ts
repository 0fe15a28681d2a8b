import fc from 'fast-check'
import t from 'tap'
import { costliestBodies } from '../support/costliest.ts'
import { requestsFor } from '../support/fuzz-requests.ts'
import { fuzzWorld } from '../support/fuzz-world.ts'
import { contractOf, operationsOf } from '../support/open-api.ts'
import { superAdminKey } from '../support/platform.ts'
import { raw } from '../support/raw.ts'
import { rounds } from '../support/rounds.ts'
import { movableClock, startApp } from '../support/server.ts'
import { errorsCounted } from '../support/validation-errors.ts'

/** One of so many bodies is sent; all, with TESTS=full. */
const each = rounds(23, 1)
/** What a refusal costs at most: errors in words, and characters of the answer. */
const mostErrors = 200
const longestRefusal = 16_384

t.setTimeout(rounds(300_000, 3_600_000))

t.test('the costliest value at each place of each body costs a few errors', async (t) => {
  const clock = movableClock()
  const { url, platform } = await startApp(t, {}, { clock })
  const ask = raw(url)
  const world = await fuzzWorld(platform)
  let sent = 0
  const codes = new Map<string, number>()
  let turn = 0
  for (const route of operationsOf(await contractOf(url))) {
    const json = route.operation.requestBody?.content['application/json']
    if (!json) continue
    const [sample] = fc.sample(requestsFor(route, world), { numRuns: 1, seed: 1 })
    const path = sample?.path.split('?')[0] ?? route.path
    const isAdmin = route.path.startsWith('/api/admin')
    const key = isAdmin ? superAdminKey : world.keys.all
    const method = route.method.toUpperCase()
    let mostWords = 0
    let longest = 0
    for (const { name, body } of costliestBodies(json.schema)) {
      if (turn++ % each !== 0) continue
      clock.advance(250)
      const headers = { 'x-api-key': key, 'content-type': 'application/json' }
      const { errors, result } = await errorsCounted(() => ask(path, { method, headers, body }))
      sent++
      const code = String(result.headers['x-error-code'] ?? result.status)
      codes.set(code, (codes.get(code) ?? 0) + 1)
      mostWords = Math.max(mostWords, errors)
      if (result.status >= 400) longest = Math.max(longest, result.text.length)
      if (errors > mostErrors || longest > longestRefusal || result.status >= 500)
        t.fail(
          `${method} ${path} ${name}: ${result.status}, ${errors} errors, ${longest} characters`,
        )
    }
    t.ok(mostWords <= mostErrors && longest <= longestRefusal, `${method} ${route.path}`)
  }
  t.comment(`${sent} bodies: ${[...codes].map((pair) => pair.join(' ')).join(', ')}`)
  for (const code of ['too_complex', 'invalid_input', 'missing_required_field'])
    t.ok(codes.has(code), code)
})

t.test('the longest allowed queries cost a few errors', async (t) => {
  const clock = movableClock()
  const { url, platform } = await startApp(t, {}, { clock })
  const ask = raw(url)
  const world = await fuzzWorld(platform)
  const unknown = Array.from({ length: 90 }, (_, n) => `${'u'.repeat(100)}${n}=`).join('&')
  const long = '%25'.repeat(4_000)
  for (const route of operationsOf(await contractOf(url))) {
    if (route.method !== 'get') continue
    const { parameters = [] } = route.operation
    const names = parameters.filter((parameter) => parameter.in === 'query').map(({ name }) => name)
    const [sample] = fc.sample(requestsFor(route, world), { numRuns: 1, seed: 1 })
    const path = sample?.path.split('?')[0] ?? route.path
    if (/feeds|live|stream/.test(path)) continue
    const key = route.path.startsWith('/api/admin') ? superAdminKey : world.keys.all
    const queries = [unknown, 'a=&'.repeat(3_000)]
    for (const name of names) queries.push(`${name}=${long}`, `${name}=1&`.repeat(90))
    for (const query of queries) {
      clock.advance(250)
      const options = { headers: { 'x-api-key': key }, patienceMs: 20_000 }
      const { errors, result } = await errorsCounted(() => ask(`${path}?${query}`, options))
      const { status, text } = result
      const fine = errors <= 150 && (status < 400 || text.length <= longestRefusal) && status < 500
      if (!fine) t.fail(`${path}?${query.slice(0, 60)}: ${status}, ${errors}, ${text.length}`)
    }
    t.pass(route.path)
  }
})
