import { readFileSync } from 'node:fs'
import t from 'tap'
import { startApp } from '../support/server.ts'

t.test('docs/contract/admin-api.md has every admin route, and no other', async (t) => {
  const { http } = await startApp(t)
  await http.ready()
  const contract = (await http.inject('/api/openapi.json')).json()
  const routes = Object.entries<object>(contract.paths)
    .filter(([path]) => /^\/api\/(admin|me)\//.test(path))
    .flatMap(([path, methods]) =>
      Object.keys(methods).map((method) => `${method.toUpperCase()} ${path}`),
    )
  const text = readFileSync('docs/contract/admin-api.md', 'utf8')
  const documented = [...text.matchAll(/^\| `([A-Z]+ \/api\/\S+)`/gm)].map(([, route]) => route)
  t.strictSame(documented.toSorted(), routes.toSorted())
})
