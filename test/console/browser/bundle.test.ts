import { readdirSync, readFileSync, utimesSync } from 'node:fs'
import { join } from 'node:path'
import { gzipSync } from 'node:zlib'
import t from 'tap'
import { buildConsole, needsConsole, settled, startConsole } from '../../support/console-screens.ts'

const budget = 250_000
const folder = 'dist/console'

t.test(
  'the first screen has at most 250 kB, and comes from this server',
  needsConsole,
  async (t) => {
    const { page: open, url } = await startConsole(t)
    const { page } = await open('/')
    const requests: string[] = []
    page.on('request', (request) => requests.push(request.url()))
    await page.reload()
    await settled(page)
    t.strictSame(
      requests.filter((address) => !address.startsWith(`${url}/`)),
      [],
    )
    const assets = requests.filter((address) => address.startsWith(`${url}/console/assets/`))
    const sizes = assets.map((address) => {
      const bytes = readFileSync(join(folder, new URL(address).pathname.slice('/console/'.length)))
      return gzipSync(bytes, { level: 9 }).length
    })
    const total = sizes.reduce((sum, size) => sum + size, 0)
    t.comment(`${total} bytes in ${assets.length} files`)
    t.ok(assets.length > 0 && total <= budget, `${total}`)
  },
)

t.test('is built again only after a change', needsConsole, async (t) => {
  t.equal(buildConsole(), '')
  utimesSync(join(folder, 'index.html'), 0, 0)
  t.match(buildConsole(), 'The console was built')
})

t.test('each screen is a chunk of its own, compressed in advance', needsConsole, async (t) => {
  const names = readdirSync(join(folder, 'assets'))
  for (const screen of readdirSync('console/src/screens'))
    t.ok(
      names.some((name) => name.startsWith(`${screen}-screen-`) && name.endsWith('.js.br')),
      screen,
    )
  const page = readFileSync(join(folder, 'index.html'), 'utf8')
  t.notMatch(page, /<script>|<style|style=|https?:/, 'nothing that the policy would block')
})
