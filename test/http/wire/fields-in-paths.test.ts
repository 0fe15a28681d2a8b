import t from 'tap'
import { fuzzWorld } from '../../support/fuzz-world.ts'
import { contractOf } from '../../support/open-api.ts'
import { raw } from '../../support/raw.ts'
import { movableClock, startApp } from '../../support/server.ts'

type Route = { method: string; path: string }

const segment = /^(?<branches>(?:│ {3}| {4})*)[├└]── (?<name>\S+)(?: \((?<methods>.+)\))?$/

/** The routes with parameters in a tree as fastify draws it. */
const parseRoutes = (tree: string): Route[] => {
  const names: string[] = []
  return tree.split('\n').flatMap((line) => {
    const { branches = '', name = '', methods = '' } = segment.exec(line)?.groups ?? {}
    names.splice(branches.length / 4, Infinity, name)
    const path = names.join('').replace('//', '/')
    if (!path.includes('/:')) return []
    return methods.split(', ').flatMap((method) => (method ? [{ method, path }] : []))
  })
}

/** Routes that end in a wildcard are drawn without their beginning. */
const tiles: Route[] = [
  '/api/admin/organizations/:organization_id/audit/tile/:level/:tile',
  '/api/admin/platform/audit/tile/:level/:tile',
].map((path) => ({ method: 'GET', path }))

/** Values that nothing has, as they stand in an address. */
const impossible = {
  'a control character': '%00',
  'a space': '%20',
  'letters of another script': '%E2%99%9E%F0%9F%8E%BB',
  'half of a pair': '%ED%A0%80',
  'a slash': 'a%2Fb',
  'a key of every object': '__proto__',
  'a method of every object': 'hasOwnProperty',
  'very much': 'x'.repeat(10_000),
}

const aForm = { type: 'application/x-www-form-urlencoded', body: 'a=b' }
const asJson = (example: unknown) =>
  example === undefined ? undefined : { type: 'application/json', body: JSON.stringify(example) }

/** An id that could be. */
const unknown = '0198c0de-0000-7000-8000-000000000000'

const outcomes = '/api/external/sessions/:session_id/runs/:run_id/tools/:tool_id/outcome'

/** What is answered to an unknown id, where it is not 404. */
const otherwise: Readonly<Record<string, string>> = {
  'DELETE /api/external/rag/datastores/:datastore_id/files/:filename :filename':
    '500 file_not_found',
  // The platform's key runs no agents.
  'POST /api/admin/organizations/:organization_id/agent-drafts/completions :organization_id':
    '403 insufficient_scopes',
  [`POST ${outcomes} :run_id`]: '409 tool_not_in_doubt',
  [`POST ${outcomes} :tool_id`]: '409 tool_not_in_doubt',
}

/** A parameter that names something new. */
const isNew = ({ method, path }: Route, name: string) =>
  method === 'PUT' && name === 'name' && path.includes('/credentials/')

t.test('an impossible value in a path is answered as an unknown one', async (t) => {
  const clock = movableClock()
  const { url, platform, drawnRoutes: routeTree } = await startApp(t, {}, { clock })
  const { one: ids, keys } = await fuzzWorld(platform)
  const { paths } = await contractOf(url)
  const keyFor = (path: string) => {
    if (path.startsWith('/api/admin')) return keys.platform
    return /\/me\/|\/instruction$/.test(path) ? keys.own : keys.all
  }

  const ask = async ({ method, path }: Route, given: Readonly<Record<string, string>>) => {
    // Sign-ins of an address are few.
    clock.advance(path.startsWith('/console') ? 60_000 : 1_000)
    const described = paths[path.replace(/:(\w+)/g, '{$1}')] ?? {}
    const operation = described[method === 'HEAD' ? 'get' : method.toLowerCase()]
    const required = (operation?.parameters ?? [])
      .filter((parameter) => parameter.in === 'query' && parameter.required)
      .map(({ name, example }): [string, string] => [name, String(example ?? ids[name])])
    // One of two parameters is required.
    if (path.endsWith('/charges')) required.push(['run_id', unknown])
    const json = operation?.requestBody?.content['application/json']
    const sent = path === '/connect/:token' && method === 'POST' ? aForm : asJson(json?.example)
    const filled = path.replace(/:(\w+)/g, (_, name: string) => given[name] ?? ids[name] ?? '')
    const { status, headers } = await raw(url)(`${filled}?${new URLSearchParams(required)}`, {
      method,
      headers: {
        origin: url,
        'x-api-key': keyFor(path),
        ...(sent ? { 'content-type': sent.type } : {}),
      },
      ...(sent ? { body: sent.body } : {}),
    })
    return `${status} ${headers['x-error-code'] ?? ''}`.trim()
  }

  const routes = [...parseRoutes(routeTree()), ...tiles]
  t.ok(routes.length > 50)
  for (const route of routes)
    for (const [, name = ''] of route.path.matchAll(/:(\w+)/g)) {
      const what = `${route.method} ${route.path} :${name}`
      if (isNew(route, name)) {
        t.equal(await ask(route, { [name]: '%00' }), '400 invalid_query', what)
        continue
      }
      const answer = await ask(route, { [name]: unknown })
      const expected = otherwise[what]
      if (expected) t.equal(answer, expected, what)
      else t.match(answer, /^404/, what)
      for (const [why, value] of Object.entries(impossible))
        t.equal(await ask(route, { [name]: value }), answer, `${what}: ${why}`)
    }
})
