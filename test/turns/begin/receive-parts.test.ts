import { readdir } from 'node:fs/promises'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { gzipSync } from 'node:zlib'
import t, { type Test } from 'tap'
import { guardedOutbound } from '../../../src/adapters/outbound/guarded.ts'
import { openSpool } from '../../../src/security/spool.ts'
import { receiveParts } from '../../../src/turns/begin/receive-parts.ts'
import { type SentPart, singleUseText } from '../../../src/turns/begin/sent-parts.ts'
import { jpeg, mp3, pdf, png, wav } from '../../support/media.ts'

const base64 = (bytes: Buffer) => singleUseText(bytes.toString('base64'))
const image = (bytes: Buffer): SentPart => ({ kind: 'image', at: 0, from: base64(bytes) })
const at = (url: string): SentPart => ({ kind: 'image', at: 0, from: { url } })
const mebibyte = 1_048_576

/** Pictures, and answers that are none. */
const site = async (t: Test) => {
  const server = createServer((request, response) => {
    const to = (location: string) => response.writeHead(302, { location }).end()
    const routes: Record<string, () => unknown> = {
      '/cat.png': () => response.end(png(7, 5, 300_000)),
      '/moved': () => to('/cat.png'),
      '/unnamed': () => response.writeHead(302).end(png()),
      '/located': () => response.writeHead(200, { location: '/none' }).end(png(3, 2)),
      '/inside': () => to('http://169.254.169.254/latest/meta-data'),
      '/plain': () => to('http://example.com/cat.png'),
      '/round': () => to('/round'),
      '/packed': () =>
        response
          .writeHead(200, { 'content-encoding': 'gzip' })
          .end(gzipSync(Buffer.alloc(mebibyte))),
      '/claims': () => response.writeHead(200, { 'content-length': 99 * mebibyte }).end(),
      '/endless': () => {
        response.on('error', () => undefined)
        const more = () => {
          while (!response.destroyed && response.write(png(1, 1, mebibyte)));
          if (!response.destroyed) response.once('drain', more)
        }
        more()
      },
      '/cut': () => {
        response.writeHead(200, { 'content-length': 1_000 }).write(png())
        setImmediate(() => response.destroy())
      },
      '/page': () => response.end('<html></html>'),
    }
    const route = routes[request.url ?? '']
    if (route) route()
    else response.writeHead(404).end()
  })
  await new Promise<void>((bound) => server.listen(0, '127.0.0.1', bound))
  t.teardown(() => {
    server.closeAllConnections()
    server.close()
  })
  const { port } = server.address() as AddressInfo
  return { host: `127.0.0.1:${port}`, url: (path: string) => `http://127.0.0.1:${port}${path}` }
}

const started = async (t: Test) => {
  const { host, url } = await site(t)
  const outbound = guardedOutbound({ allowHosts: [host] })
  t.teardown(outbound.close)
  const folder = t.testdir()
  const receive = receiveParts({ spool: await openSpool(folder), outbound })
  const refused = async (...parts: SentPart[]) => {
    const error = await receive(parts).then(
      () => undefined,
      (error: Error & { code?: string }) => error,
    )
    return { code: error?.code, message: error?.message ?? 'taken' }
  }
  return { receive, refused, url, left: () => readdir(folder) }
}

const bytesOf = async (bytes: AsyncIterable<Uint8Array> | undefined) => {
  const parts: Uint8Array[] = []
  for await (const part of bytes ?? []) parts.push(part)
  return Buffer.concat(parts)
}

t.test('files wait on disk, as their first bytes say what they are', async (t) => {
  const { receive, url, left } = await started(t)
  const picture = jpeg(30, 20, 50_000)
  const { parts, discard } = await receive([
    { ...image(picture), mediaType: 'image/png', detail: 'low' },
    { kind: 'audio', at: 4, from: base64(wav(700_001)), mediaType: 'audio/wav' },
    { kind: 'file', at: 4, from: base64(pdf()), name: 'a.pdf' },
    { kind: 'file', at: 4, from: base64(Buffer.from('a,b')), mediaType: 'text/csv' },
    at(url('/moved')),
  ])
  t.match(parts, [
    { kind: 'image', mediaType: 'image/jpeg', width: 30, height: 20, detail: 'low', at: 0 },
    { kind: 'audio', mediaType: 'audio/wav', bytes: 700_001, at: 4 },
    { mediaType: 'application/pdf', name: 'a.pdf' },
    { mediaType: 'text/csv', bytes: 3 },
    { mediaType: 'image/png', width: 7, height: 5, bytes: 300_000 },
  ])
  t.ok((await bytesOf(parts[0]?.read())).equals(picture))
  t.ok((await bytesOf(parts[1]?.read())).equals(wav(700_001)))
  t.ok((await bytesOf(parts[1]?.read())).equals(wav(700_001)), 'as often as it is asked')
  t.equal((await left()).length, 5)
  await discard?.()
  t.strictSame(await left(), [])
})

t.test('an unreadable file is refused, and nothing of it is left', async (t) => {
  const { refused, url, left } = await started(t)
  const invalid = (text: string): SentPart => ({ kind: 'image', at: 0, from: singleUseText(text) })
  const good = () => image(png(1, 1, 100_000))
  const long = png(1, 1, 600_000).toString('base64')
  const cases: [string, SentPart, RegExp][] = [
    ['characters', invalid('iVBO!w0KGgo='), /not valid base64/],
    ['length', invalid('iVBOR'), /not valid base64/],
    ['padding within', invalid('iVBO==Rw0KGg'), /not valid base64/],
    ['a fault far in', invalid(`${long.slice(0, 700_000)}*${long.slice(700_001)}`), /not valid/],
    ['nothing', invalid(''), /empty/],
    ['no picture', image(Buffer.from('<svg/>')), /no PNG, JPEG, GIF or WebP/],
    ['a PDF as picture', image(pdf()), /no PNG/],
    [
      'another sound',
      { kind: 'audio', at: 0, from: base64(mp3()), mediaType: 'audio/wav' },
      /not audio/,
    ],
    [
      'no PDF',
      { kind: 'file', at: 0, from: base64(png()), mediaType: 'application/pdf' },
      /no PDF/,
    ],
    ['404', at(url('/none')), /answers 404/],
    ['a redirect without an address', at(url('/unnamed')), /answers 302/],
    ['a page', at(url('/page')), /no PNG/],
    ['compressed', at(url('/packed')), /compressed/],
    ['round and round', at(url('/round')), /redirects too often/],
    ['cut off', at(url('/cut')), /could not be fetched/],
    ['a private redirect', at(url('/inside')), /only https/],
    ['a redirect without TLS', at(url('/plain')), /only https/],
    ['metadata', at('https://169.254.169.254/latest'), /not public/],
    ['loopback', at('https://[::1]/x'), /not public/],
    ['another port', at('http://127.0.0.1:1/x'), /only https/],
    ['a password', at('https://a:b@example.com/x'), /password/],
  ]
  for (const [name, part, message] of cases)
    t.match(await refused(good(), part), { code: 'invalid_content', message }, name)
  for (const path of ['/claims', '/endless'])
    t.match(await refused(at(url(path))), { code: 'payload_too_large' }, path)
  t.match(await refused(image(png(1, 1, 10 * mebibyte + 1))), { code: 'payload_too_large' })
  const sum = [9, 9, 9].map((size) => image(png(1, 1, size * mebibyte)))
  t.match(await refused(...sum), { code: 'payload_too_large', message: /20 MB together/ })
  t.strictSame(await left(), [])
})

t.test('an answer of 200 with a Location is taken as it is', async (t) => {
  const { receive, url } = await started(t)
  t.match(await receive([at(url('/located'))]), { parts: [{ width: 3, height: 2 }] })
})
