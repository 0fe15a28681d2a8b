import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { gzipSync } from 'node:zlib'
import t, { type Test } from 'tap'
import { browsing } from '../../support/console.ts'
import { newFolder, startApp } from '../../support/server.ts'

const script = 'console.log("an asset")\n'
const index = '<!doctype html><title>Console</title>'

const built = async (t: Test) => {
  const root = await newFolder(t)
  const consoleFolder = join(root, 'console')
  const assets = join(consoleFolder, 'assets')
  await mkdir(assets, { recursive: true })
  await writeFile(join(root, 'secret.txt'), 'secret')
  await writeFile(join(consoleFolder, 'index.html'), index)
  await writeFile(join(assets, 'main-abc123.js'), script)
  await writeFile(join(assets, 'main-abc123.js.gz'), gzipSync(script))
  await writeFile(join(assets, '.hidden'), 'secret')
  const app = await startApp(t, {}, { consoleFolder })
  return browsing(app)
}

t.test('every path below /console answers the same page', async (t) => {
  const browse = await built(t)
  for (const url of ['/console', '/console/', '/console/runs/1?status=failed', '/console/x.js'])
    t.match(
      await browse('GET', url),
      {
        status: 200,
        text: index,
        headers: {
          'content-type': 'text/html; charset=utf-8',
          'cache-control': 'no-cache',
          'x-content-type-options': 'nosniff',
          'x-frame-options': 'DENY',
          'content-security-policy':
            "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data: blob:; media-src 'self' blob:; connect-src 'self'; font-src 'self'; frame-ancestors 'none'; base-uri 'none'; form-action 'self'",
        },
      },
      url,
    )
})

t.test('an asset is kept for a year, and sent compressed where that is accepted', async (t) => {
  const browse = await built(t)
  const url = '/console/assets/main-abc123.js'
  t.match(await browse('GET', url), {
    status: 200,
    text: script,
    headers: {
      'content-type': /javascript/,
      'cache-control': 'public, max-age=31536000, immutable',
      'x-content-type-options': 'nosniff',
    },
  })
  t.match(await browse('GET', url, { 'accept-encoding': 'gzip' }), {
    status: 200,
    headers: { 'content-encoding': 'gzip', vary: /accept-encoding/ },
  })
})

t.test('nothing outside the folder of assets is served', async (t) => {
  const browse = await built(t)
  for (const path of [
    'nothing.js',
    '.hidden',
    '../index.html',
    '..%2findex.html',
    '..%2f..%2fsecret.txt',
    '%2e%2e/%2e%2e/secret.txt',
    '..%5c..%5csecret.txt',
    '%00',
    '/etc/passwd',
  ]) {
    const reply = await browse('GET', `/console/assets/${path}`)
    t.notMatch(reply.text, 'secret', path)
    t.ok([400, 404].includes(reply.status) || reply.text === index, path)
  }
})

t.test('a console that is not built says how to build it', async (t) => {
  const app = await startApp(t, {}, { consoleFolder: join(await newFolder(t), 'none') })
  const browse = browsing(app)
  t.match(await browse('GET', '/console/'), { status: 200, text: /npm run build:console/ })
  t.match(await browse('GET', '/console/assets/main.js'), { status: 404, code: 'not_found' })
})

t.test('/ leads a browser to the console, and others nowhere', async (t) => {
  const browse = await built(t)
  t.match(await browse('GET', '/', { accept: 'text/html,*/*' }), {
    status: 302,
    headers: { location: '/console/' },
  })
  t.match(await browse('GET', '/', { accept: 'application/json' }), {
    status: 404,
    code: 'not_found',
  })
})

t.test('pages are refused over plain HTTP, as everything is', async (t) => {
  const app = await startApp(t, { REQUIRE_HTTPS: 'always' })
  t.match(await browsing(app)('GET', '/console/'), { status: 403, code: 'https_required' })
})
