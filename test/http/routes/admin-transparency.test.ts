import { createHash, createPublicKey, verify } from 'node:crypto'
import canonicalize from 'canonicalize'
import t from 'tap'
import { partner, withOrganization } from '../../support/partner.ts'
import { superAdminKey } from '../../support/platform.ts'
import { type StartedApp, startApp } from '../../support/server.ts'
import { consistentWith, includedIn, rootOfLeaves } from '../../support/tree-verifier.ts'

const bytes = (text: string) => Buffer.from(text, 'base64')

/** Checks and reads a checkpoint with nothing but the published key (C2SP). */
const checkpointOf = (note: string, vkey: string) => {
  const [, name = '', id = '', key = ''] = /^([^+]+)\+([0-9a-f]{8})\+(.+)\n$/.exec(vkey) ?? []
  const raw = bytes(key)
  const digest = createHash('sha256').update(`${name}\n`).update(raw).digest('hex')
  const [, text = '', signature = ''] = /^([\s\S]*\n)\n— \S+ (\S+)\n$/.exec(note) ?? []
  const signed = bytes(signature)
  const jwk = { kty: 'OKP', crv: 'Ed25519', x: raw.subarray(1).toString('base64url') }
  const publicKey = createPublicKey({ key: jwk, format: 'jwk' })
  const [origin, size, root = ''] = text.split('\n')
  const valid =
    digest.startsWith(id) &&
    signed.subarray(0, 4).toString('hex') === id &&
    verify(null, Buffer.from(text), publicKey, signed.subarray(4))
  return { valid, name, origin, size: Number(size), root: bytes(root) }
}

const reading =
  ({ http }: StartedApp) =>
  async (url: string, key = superAdminKey) => {
    const reply = await http.inject({ url, headers: { 'x-api-key': key } })
    return { status: reply.statusCode, headers: reply.headers, bytes: reply.rawPayload }
  }

/** The leaves in an entry bundle (C2SP tlog-tiles). */
const leavesIn = (bundle: Buffer): string[] => {
  const leaves: string[] = []
  for (let at = 0; at < bundle.length; ) {
    const end = at + 2 + bundle.readUInt16BE(at)
    leaves.push(bundle.toString('utf8', at + 2, end))
    at = end
  }
  return leaves
}

const rename = async ({ asPlatform: platform }: StartedApp, at: string, times: number) => {
  for (let n = 0; n < times; n++) await platform('PATCH', at, { name: `Name ${n} of ${at.length}` })
}

t.test('anybody who knows the key can check a history', async (t) => {
  const all = await startApp(t, {}, { laterApart: true })
  const { at, owner, organization_id } = await withOrganization(all)
  const read = reading(all)
  const text = async (path: string) => (await read(`${at}/audit/${path}`)).bytes.toString()

  const vkey = await text('key')
  const first = checkpointOf(await text('checkpoint'), vkey)
  const origin = `reprise/${organization_id}`
  t.match(first, { valid: true, origin, name: origin })
  await rename(all, at, 300)
  const second = checkpointOf(await text('checkpoint'), vkey)
  t.equal(second.size, first.size + 300)
  t.equal(second.valid, true)

  const { size } = second
  const bundles = await Promise.all([
    read(`${at}/audit/tile/entries/000`),
    read(`${at}/audit/tile/entries/001.p/${size - 256}`),
  ])
  const leaves = bundles.flatMap(({ bytes }) => leavesIn(bytes))
  t.equal(leaves.length, size)
  t.strictSame(rootOfLeaves(leaves), second.root, 'the leaves come to the signed root')
  t.strictSame(rootOfLeaves(leaves.slice(0, first.size)), first.root, 'as they did before')
  for (const leaf of leaves) t.equal(canonicalize(JSON.parse(leaf)), leaf)
  t.equal(await text('export'), `${leaves.join('\n')}\n`, 'and are the lines of the export')
  t.equal(await text('export?from=3&to=5'), `${leaves.slice(3, 5).join('\n')}\n`)

  const events = (await owner('GET', `${at}/audit/events?limit=500`)).body.events
  t.strictSame(
    leaves.map((leaf) => JSON.parse(leaf)).map(({ id, position }) => ({ id, position })),
    events.map(({ id, position }: { id: string; position: number }) => ({ id, position })),
    'of the events that are listed',
  )

  const [full, partial, above] = await Promise.all([
    read(`${at}/audit/tile/0/000`),
    read(`${at}/audit/tile/0/001.p/${size - 256}`),
    read(`${at}/audit/tile/1/000.p/1`),
  ])
  const hashes = leaves.map((leaf) => createHash('sha256').update(`\0${leaf}`).digest())
  t.strictSame(full.bytes, Buffer.concat(hashes.slice(0, 256)))
  t.strictSame(partial.bytes, Buffer.concat(hashes.slice(256)))
  t.strictSame(above.bytes, rootOfLeaves(leaves.slice(0, 256)))
  t.match(full.headers, { 'cache-control': /immutable/, 'content-type': /octet-stream/ })
  t.match(partial.headers, { 'cache-control': 'no-store' })

  for (const index of [0, 1, 255, 256, size - 1]) {
    const { body } = await owner('GET', `${at}/audit/proofs/inclusion?index=${index}&size=${size}`)
    const leaf = hashes[index] ?? Buffer.of()
    t.equal(body.leaf_hash, leaf.toString('base64'))
    t.equal(body.root_hash, second.root.toString('base64'))
    const proof = body.hashes.map(bytes)
    t.ok(includedIn({ leaf, index, size, proof, root: second.root }), `event ${index}`)
  }
  for (const [from, to] of [
    [first.size, size],
    [256, 300],
    [size, size],
    [0, size],
  ] as const) {
    const { body } = await owner('GET', `${at}/audit/proofs/consistency?from=${from}&to=${to}`)
    const [before, after] = [rootOfLeaves(leaves.slice(0, from)), rootOfLeaves(leaves.slice(0, to))]
    t.match(body, {
      from_root_hash: before.toString('base64'),
      to_root_hash: after.toString('base64'),
    })
    const proof = body.hashes.map(bytes)
    t.ok(consistentWith({ from, to, proof, before, after }), `${from} to ${to}`)
  }
})

t.test('erasing texts changes no leaf', async (t) => {
  const all = await startApp(t, {}, { laterApart: true })
  const { at, key, provisioned } = await partner(all)
  const { user_id, path } = await provisioned('ann@example.com')
  const read = reading(all)
  const chat = await key('orchestrator:invoke', 'users:delegate')
  const reply = await chat('POST', '/api/external/v1/chat/completions', {
    session_id: 's-1',
    on_behalf_of: user_id,
    messages: [{ role: 'user', content: 'the secret word' }],
  })
  t.equal(reply.status, 200)
  const before = (await read(`${at}/audit/export`)).bytes.toString()
  t.notMatch(before, 'the secret word')
  t.match(before, '"$sealed"')

  const erased = await (await key('sessions:delete'))('DELETE', `${path}/sessions/s-1`)
  t.match(erased, { status: 200, body: { deleted: 1 } })
  const after = (await read(`${at}/audit/export`)).bytes.toString()
  t.ok(after.startsWith(before))
  t.match(after, 'SessionErased')
  const { root } = checkpointOf(
    (await read(`${at}/audit/checkpoint`)).bytes.toString(),
    (await read(`${at}/audit/key`)).bytes.toString(),
  )
  t.strictSame(rootOfLeaves(after.trimEnd().split('\n')), root)
})

t.test('wrong queries and requests without permission are refused', async (t) => {
  const all = await startApp(t, {}, { laterApart: true })
  const { asPlatform: platform, clientOf: as } = all
  const { at, owner } = await withOrganization(all)
  for (const query of [
    'inclusion',
    'inclusion?index=-1',
    'inclusion?index=1&size=1',
    'inclusion?index=0&size=100000',
    'consistency',
    'consistency?from=2&to=1',
    'consistency?from=0&to=100000',
  ])
    t.match(await owner('GET', `${at}/audit/proofs/${query}`), {
      status: 400,
      code: 'invalid_query',
      body: { detail: {}, error: { code: 'invalid_query' } },
    })
  t.match(await owner('GET', `${at}/audit/export?to=100000`), { code: 'invalid_query' })
  for (const tile of [
    '0/000',
    '0/000.p/200',
    '0/1',
    '1/000.p/1',
    '6/000',
    'entries/000',
    'entries/x',
  ])
    t.match(await owner('GET', `${at}/audit/tile/${tile}`), { status: 404, code: 'tile_not_found' })

  const other = await platform('POST', '/api/admin/organizations', {
    name: 'Other',
    owner: { email: 'other@example.com' },
  })
  const theirs = `/api/admin/organizations/${other.body.organization_id}`
  const limited = await platform('POST', `${at}/api-keys`, { name: 'No admin' })
  const unknown = at.replace(/.$/, at.endsWith('0') ? '1' : '0')
  for (const path of [
    'key',
    'checkpoint',
    'export',
    'proofs/inclusion?index=0',
    'proofs/consistency?from=1',
    'tile/0/000.p/1',
    'tile/entries/000.p/1',
  ]) {
    t.match(await owner('GET', `${theirs}/audit/${path}`), { code: 'organization_access_denied' })
    t.match(await as(limited.body.key)('GET', `${at}/audit/${path}`), {
      code: 'insufficient_scopes',
    })
    t.match(await platform('GET', `${unknown}/audit/${path}`), { code: 'organization_not_found' })
  }
})
