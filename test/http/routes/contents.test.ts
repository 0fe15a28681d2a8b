import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import t from 'tap'
import { movableClock, startApp } from '../../support/server.ts'
import { hirePainter, studio } from '../../support/studio.ts'

const unknown = '01890000-0000-7000-8000-000000000000'
const week = 7 * 24 * 60 * 60_000

/** The link with other parameters. */
const changed = (link: string, change: (url: URL) => void): URL => {
  const url = new URL(link)
  change(url)
  return url
}

t.test('the list: the newest first, in pages, filtered', async (t) => {
  const { provider, draw, over, list, ask } = await studio(t)
  const ids: string[] = []
  const prompt = `Draw a picture of a ${'very '.repeat(60)}red fox`
  for (const [message, plan] of [
    ['Draw a picture of a fox', {}],
    ['Make a sound of rain', { file: { type: 'audio/wav' } }],
    ['Draw a picture of a heron', { error: 'no' }],
    [prompt, { file: { type: 'application/octet-stream', bytes: Buffer.from('unknown') } }],
  ] as const) {
    provider.next(plan)
    ids.unshift(await draw(message))
    await over(ids[0] ?? '')
  }
  const named = async (query: string) => {
    const { items, ...rest } = await list(query)
    return { ids: items.map(({ id }: { id: string }) => id), ...rest }
  }
  const [other, failed, sound, fox] = ids
  t.strictSame(await named(''), { ids, total: 4, page: 1, page_size: 20, has_more: false })
  const paged = { total: 4, page_size: 3 }
  t.strictSame(await named('?page_size=3'), {
    ...paged,
    ids: ids.slice(0, 3),
    page: 1,
    has_more: true,
  })
  t.strictSame(await named('?page_size=3&page=2'), {
    ...paged,
    ids: [fox],
    page: 2,
    has_more: false,
  })
  t.match(await named('?page=9'), { ids: [], total: 4, has_more: false })
  t.match(await named('?content_type=image'), { ids: [fox], total: 1 })
  t.match(await named('?content_type=audio'), { ids: [sound] })
  t.match(await named('?content_type=other'), { ids: [other] })
  t.match(await named('?status=failed'), { ids: [failed] })
  t.match(await named('?status=completed&content_type=image'), { ids: [fox], total: 1 })
  t.match(await named('?status=failed&content_type=image'), { ids: [], total: 0 })
  const { items } = await list()
  t.equal(items[0].prompt, `${prompt.slice(0, 200)}…`)
  t.match(items[1], { content_type: null, storage_url: null, error_message: 'no' })
  t.notOk('provider_input' in items[0])
  for (const query of ['?content_type=text', '?status=done'])
    t.match(await ask('GET', query), { status: 400, body: { detail: /Allowed values/ } })
  for (const query of ['?page_size=101', '?page=0']) t.equal((await ask('GET', query)).status, 400)
  for (const id of [unknown, 'a'.repeat(300)])
    t.match(await ask('GET', `/${id}`), { status: 404, code: 'content_not_found' })
})

t.test('content belongs to its user, and to the organization', async (t) => {
  const { server, organization, draw, over, get } = await studio(t)
  const id = await draw()
  const { storage_url } = await over(id)
  const stranger = await hirePainter(await server.platform.organization())
  const user_id = await organization.member()
  await server.platform.ask('PUT', `/users/${user_id}/subscription`, { plan: 'pro_monthly' })
  await server.platform.ask('POST', `/users/${user_id}/credits`, { amount: 1, reason: 'x' })
  const colleague = await hirePainter({
    ...organization,
    key: async (settings) => organization.key({ ...settings, type: 'user', user_id }),
  })
  for (const outsider of [stranger, colleague]) {
    t.equal((await outsider.list()).total, 0)
    t.match(await outsider.ask('GET', `/${id}`), { status: 404, code: 'content_not_found' })
    t.match(await outsider.retry(id), { status: 404, code: 'content_not_found' })
    const own = await outsider.draw()
    await outsider.over(own)
    const link = changed(storage_url, (url) => {
      url.pathname = `/files/${own}`
    })
    t.equal((await fetch(link)).status, 404, 'a link is for one item')
  }
  const narrow = await organization.key({ scopes: ['content:read'] })
  t.match(await narrow.ask('POST', `/api/external/content/${id}/retry`), { status: 403 })
  t.match(await get(id), { status: 'completed' })
})

t.test('a link is valid as it is, and for a week', async (t) => {
  const clock = movableClock()
  const { draw, over, get } = await studio(t, {}, { clock })
  const id = await draw()
  const { storage_url: link } = await over(id)
  const status = async (url: string | URL) => (await fetch(url)).status
  t.equal(await status(link), 200)
  const tampered: ((url: URL) => void)[] = [
    ({ searchParams }) => searchParams.set('signature', 'A'.repeat(43)),
    ({ searchParams }) => searchParams.set('signature', ''),
    ({ searchParams }) => searchParams.set('expires', `${Number(searchParams.get('expires')) + 1}`),
    ({ searchParams }) => searchParams.append('signature', 'x'),
    ({ searchParams }) => searchParams.delete('signature'),
    ({ searchParams }) => searchParams.delete('expires'),
    (url) => {
      url.search = ''
    },
    ({ searchParams }) => searchParams.set('expires', 'Infinity'),
    (url) => {
      url.pathname = `/files/${unknown}`
    },
  ]
  for (const change of tampered) {
    const url = changed(link, change)
    t.equal(await status(url), 404, url.search)
  }
  const asWebhook = changed(link, (url) => {
    url.pathname = `/webhooks/content/${id}`
  })
  t.equal((await fetch(asWebhook, { method: 'POST' })).status, 404, 'of another purpose')
  clock.advance(week + 1_000)
  const late = await fetch(link)
  t.equal(late.headers.get('x-error-code'), 'file_link_invalid')
  t.equal(late.status, 404)
  t.equal(await status((await get(id)).storage_url), 200, 'a new one is made each time')
})

t.test('files in parts', async (t) => {
  const { provider, draw, over } = await studio(t)
  provider.next({ file: { bytes: Buffer.from('0123456789'), type: 'audio/wav' } })
  const { storage_url: link, storage_path } = await over(await draw('Make a sound of rain'))
  const get = async (headers: Record<string, string> = {}, method = 'GET') => {
    const reply = await fetch(link, { method, headers })
    const header = (name: string) => reply.headers.get(name)
    return {
      status: reply.status,
      text: await reply.text(),
      range: header('content-range'),
      length: header('content-length'),
      type: header('content-type'),
      etag: header('etag'),
      cache: header('cache-control'),
      accepts: header('accept-ranges'),
      policy: header('content-security-policy'),
      sniff: header('x-content-type-options'),
    }
  }
  const etag = `"${storage_path}"`
  const complete = { status: 200, text: '0123456789', length: '10', range: null }
  t.match(await get(), {
    ...complete,
    type: 'audio/wav',
    etag,
    accepts: 'bytes',
    policy: /sandbox/,
    sniff: 'nosniff',
  })
  t.match(await get({}, 'HEAD'), { ...complete, text: '' })
  const parts: Record<string, [text: string, range: string]> = {
    'bytes=0-0': ['0', '0-0'],
    'bytes=2-5': ['2345', '2-5'],
    'bytes=7-': ['789', '7-9'],
    'bytes=-3': ['789', '7-9'],
    'bytes=-99': ['0123456789', '0-9'],
    'bytes=8-99': ['89', '8-9'],
  }
  for (const [range, [text, span]] of Object.entries(parts))
    t.match(
      await get({ range }),
      {
        status: 206,
        text,
        range: `bytes ${span}/10`,
        length: `${text.length}`,
        type: 'audio/wav',
      },
      range,
    )
  for (const range of ['bytes=10-', 'bytes=99-100', 'bytes=-0'])
    t.match(
      await get({ range }),
      {
        status: 416,
        range: 'bytes */10',
        type: /^application\/json/,
        etag: null,
        cache: 'no-store',
      },
      range,
    )
  for (const range of ['bytes=', 'bytes=-', 'lines=1-2', 'bytes=a-b', 'bytes=0-1,3-4'])
    t.match(await get({ range }), complete, range)
  const range = 'bytes=2-5'
  t.match(await get({ range, 'if-range': etag }), { status: 206, text: '2345' })
  t.match(await get({ range, 'if-range': '"another"' }), complete)
  t.match(await get({ range, 'if-range': 'Wed, 21 Oct 2015 07:28:00 GMT' }), complete)
  for (const known of [etag, `W/${etag}`, `"x", ${etag}`, '*'])
    t.match(await get({ 'if-none-match': known }), { status: 304, text: '', etag }, known)
  t.match(await get({ 'if-none-match': '"x"' }), complete)
})

t.test('retrying: only what failed, one at a time, three times', async (t) => {
  const { provider, draw, over, when, retry } = await studio(t)
  const error = 'No foxes'
  provider.next({ held: true, error })
  const id = await draw()
  const refused = { status: 400, code: 'content_not_failed', body: { detail: String } }
  t.match(await retry(id), refused, 'not while it waits or is made')
  await when(id, 'processing')
  t.match(await retry(id), refused)
  provider.end(0)
  await over(id)
  for (let attempt = 1; attempt <= 3; attempt++) {
    provider.next({ held: true, error })
    const answers = await Promise.all([retry(id), retry(id), retry(id)])
    const [won, ...others] = answers.filter(({ status }) => status === 200)
    t.strictSame(won?.body, {
      success: true,
      message: `Retry queued (attempt ${attempt} of 3)`,
      generation_id: id,
    })
    t.equal(others.length, 0, 'one of them wins')
    t.match(
      answers.filter(({ status }) => status !== 200),
      [refused, refused],
    )
    t.match(await when(id, 'pending', 'processing'), { retry_count: attempt, error_message: null })
    provider.end(attempt)
    t.match(await over(id), { status: 'failed', error_message: error, retry_count: attempt })
  }
  t.match(await retry(id), { status: 400, code: 'max_retries_reached' })
  t.equal(provider.made.length, 4)
  const good = await draw()
  await over(good)
  t.match(await retry(good), refused, 'not what succeeded')
  t.match(await retry(unknown), { status: 404, code: 'content_not_found' })
})

t.test('a retry needs a plan and credits', async (t) => {
  const { server, organization, provider, draw, over, retry } = await studio(t)
  provider.next({ error: 'no' })
  const id = await draw()
  await over(id)
  const { balance } = await organization.balance()
  const take = (amount: number) =>
    server.platform.ask('POST', `/users/${organization.ownerId}/credits`, { amount, reason: 'x' })
  await take(-balance - 1)
  t.match(await retry(id), { status: 402, code: 'insufficient_credits' })
  await take(10)
  t.equal((await retry(id)).status, 200)
  t.match(await over(id), { status: 'completed' })
})

t.test('a webhook hastens what the provider is asked anyway', async (t) => {
  const { provider, server, draw, when, over } = await studio(
    t,
    { PUBLIC_URL: 'https://reprise.example/base/' },
    { generation: { pollMs: 600_000 } },
  )
  provider.next({ held: true }, { held: true })
  const id = await draw()
  await when(id, 'processing')
  await provider.until(() => provider.made.length === 1)
  const { webhook = '', ...body } = provider.made[0]?.body ?? {}
  t.match(webhook, `https://reprise.example/base/webhooks/content/${id}?expires=`)
  t.match(body, { webhook_events_filter: ['completed'] })
  const callWebhook = async (change: (url: URL) => void = () => undefined, body: unknown = {}) => {
    const url = changed(webhook, change)
    const own = `${server.url}${url.pathname.replace('/base', '')}${url.search}`
    const init = { method: 'POST', body: JSON.stringify(body) }
    return (await fetch(own, { ...init, headers: { 'content-type': 'application/json' } })).status
  }
  t.equal(await callWebhook(({ searchParams }) => searchParams.set('signature', 'forged')), 404)
  t.equal(
    await callWebhook((url) => {
      url.pathname = `/base/webhooks/content/${unknown}`
    }),
    404,
    'signed for another item',
  )
  const claim = { id: 'p-1', status: 'succeeded', output: 'https://evil.example/fox.svg' }
  const looks = provider.count('poll')
  const causesPoll = async () => {
    for (const end = Date.now() + 10_000; provider.count('poll') === looks; ) {
      if (Date.now() > end) return false
      t.equal(await callWebhook(undefined, claim), 204)
    }
    return true
  }
  t.ok(await causesPoll(), 'it is looked at')
  t.match(await when(id, 'processing'), { output_url: null }, 'the word of a webhook is not taken')
  provider.end(0)
  for (const end = Date.now() + 10_000; provider.count('file') === 0 && Date.now() < end; )
    t.equal(await callWebhook(), 204)
  t.match(await over(id), { status: 'completed', output_url: `${provider.url}/files/p-1` })
  const requests = provider.requests.length
  t.equal(await callWebhook(), 204, 'told again, nothing comes of it')
  t.equal(provider.requests.length, requests)
  const second = await draw('Draw a picture of a heron')
  await when(second, 'processing')
  t.equal((await over(id)).status, 'completed')
  t.equal(await callWebhook(), 204)
  t.match(await when(second, 'processing'), { status: 'processing' }, 'nor of another item')
})

t.test('without a provider: small, valid files, and no video', async (t) => {
  const server = await startApp(t, {}, { generation: { pollMs: 10 } })
  const { draw, over, retry } = await hirePainter(await server.platform.organization())
  const generate = async (message: string) => {
    const item = await over(await draw(message))
    const reply = await fetch(item.storage_url)
    return {
      item,
      type: reply.headers.get('content-type'),
      disposition: reply.headers.get('content-disposition'),
      bytes: Buffer.from(await reply.arrayBuffer()),
    }
  }
  const prompt = 'Draw a picture of <b>"Tom & Jerry"</b>'
  const image = await generate(prompt)
  t.match(image, {
    type: 'image/svg+xml',
    item: { content_type: 'image', output_url: null, provider_version: 'offline/image-1' },
  })
  const svg = image.bytes.toString()
  const { XMLValidator } = await import('fast-xml-parser')
  t.equal(XMLValidator.validate(svg), true)
  t.match(svg, /^<svg xmlns="http:\/\/www\.w3\.org\/2000\/svg" viewBox="0 0 768 512"/)
  t.notMatch(svg, /<b>|<script/)

  const { bytes: wav, ...sound } = await generate('Make a sound of rain')
  t.match(sound, { type: 'audio/wav', item: { content_type: 'audio', credit_cost: 0.02 } })
  t.equal(wav.toString('latin1', 0, 4), 'RIFF')
  t.equal(wav.readUInt32LE(4), wav.length - 8)
  t.equal(wav.toString('latin1', 8, 16), 'WAVEfmt ')
  const [format, channels, rate, perSecond, block, bits] = [
    wav.readUInt16LE(20),
    wav.readUInt16LE(22),
    wav.readUInt32LE(24),
    wav.readUInt32LE(28),
    wav.readUInt16LE(32),
    wav.readUInt16LE(34),
  ]
  t.strictSame([format, channels, bits], [1, 1, 16])
  t.equal(block, (channels * bits) / 8)
  t.equal(perSecond, rate * block)
  t.equal(wav.toString('latin1', 36, 40), 'data')
  t.equal(wav.readUInt32LE(40), wav.length - 44)
  t.ok(
    wav.subarray(44).some((byte) => byte !== 0),
    'it is not silent',
  )

  const { bytes: glb, ...model } = await generate('Generate a 3D model of a chair')
  t.match(model, { type: 'model/gltf-binary', item: { content_type: 'glb', credit_cost: 0.1 } })
  t.match(model, { disposition: /^attachment; filename\*=UTF-8''[0-9a-f-]{36}\.glb$/ })
  t.match(sound, { disposition: 'inline' })
  t.equal(glb.toString('latin1', 0, 4), 'glTF')
  t.equal(glb.readUInt32LE(4), 2)
  t.equal(glb.readUInt32LE(8), glb.length)
  const jsonBytes = glb.readUInt32LE(12)
  const gltf = JSON.parse(glb.toString('utf8', 20, 20 + jsonBytes))
  const binary = glb.subarray(20 + jsonBytes + 8)
  t.match(gltf, { asset: { version: '2.0' }, buffers: [{ byteLength: binary.length }] })
  for (const { byteOffset, byteLength } of gltf.bufferViews)
    t.ok(byteOffset % 4 === 0 && byteOffset + byteLength <= binary.length)

  const video = await over(await draw('Make a video of a fox'))
  t.match(video, { status: 'failed', error_message: 'no video provider configured' })
  t.equal((await retry(video.id)).status, 200)
  t.match(await over(video.id), { status: 'failed', retry_count: 1 })
  t.ok((await generate(prompt)).bytes.equals(image.bytes), 'the same from the same words')
})

t.test('an output is fetched from the provider itself or from a public host', async (t) => {
  let requests = 0
  const inside = createServer((_, reply) => {
    requests++
    reply.writeHead(200, { 'content-type': 'image/png' }).end('secret')
  }).listen(0, '127.0.0.1')
  await once(inside, 'listening')
  t.teardown(() => inside.close())
  const { port } = inside.address() as AddressInfo
  const { provider, draw, over } = await studio(t)
  for (const output of [
    `http://127.0.0.1:${port}/`,
    `http://localhost:${port}/`,
    'https://[::1]/',
    'https://169.254.169.254/latest/meta-data',
    'ftp://example.com/',
  ]) {
    provider.next({ output })
    t.match(await over(await draw()), { status: 'failed' }, output)
  }
  t.equal(requests, 0)
  t.match(await over(await draw()), { status: 'completed' }, 'its own')
})
