import { cp } from 'node:fs/promises'
import t from 'tap'
import { logVerifier, organizationLog } from '../../../console/src/proof/log-verifier.ts'
import { badgeOf } from '../../../console/src/proof/proof-badge.ts'
import type { ListedEvent } from '../../../console/src/proof/stored-event.ts'
import { memoryDouble } from '../../support/log-double.ts'
import { partner, withOrganization } from '../../support/partner.ts'
import { superAdminKey } from '../../support/platform.ts'
import { newFolder, type StartedApp, startApp } from '../../support/server.ts'

type Tamper = (path: string, bytes: Buffer) => Buffer

/** Requests over the network to a server, whose answers are changed on the way. */
const fetchOf = (server: StartedApp, tamper: Tamper = (_, bytes) => bytes) => {
  return async (url: string, init: { signal?: AbortSignal }) => {
    const headers = { 'x-api-key': superAdminKey }
    const reply = await fetch(server.url + url, { ...init, headers })
    const bytes = Buffer.from(await reply.arrayBuffer())
    const body = reply.status === 200 ? tamper(url.replace(/^.*\/audit\//, ''), bytes) : bytes
    return new Response(body, { status: reply.status })
  }
}

const onlyAt =
  (path: string, change: Tamper): Tamper =>
  (requested, bytes) =>
    requested.startsWith(path) ? change(requested, bytes) : bytes

const replaced =
  (pattern: RegExp, change: (text: string) => string): Tamper =>
  (_, bytes) =>
    Buffer.from(bytes.toString().replace(pattern, change))

const flipped =
  (at: number): Tamper =>
  (_, bytes) => {
    const copy = Buffer.from(bytes)
    copy[at] = (copy[at] ?? 0) ^ 1
    return copy
  }

const rename = async (server: StartedApp, at: string, names: readonly string[]) => {
  for (const name of names) await server.asPlatform('PATCH', at, { name })
}

const names = (count: number, prefix = 'Name') =>
  Array.from({ length: count }, (_, n) => `${prefix} ${n}`)

/** A server with a history of some 300 events, and a browser that has verified a part of it. */
const scene = async (t: Parameters<typeof startApp>[0]) => {
  const server = await startApp(t)
  const { at, owner, organization_id } = await withOrganization(server)
  const memory = memoryDouble()
  const badge = async (tamper?: Tamper, listed?: ListedEvent) => {
    const fetch = fetchOf(server, tamper)
    const verifier = logVerifier({ ...organizationLog(organization_id), fetch, memory })
    return badgeOf(await (listed ? verifier.verifyEvent(listed) : verifier.verifyLog()))
  }
  await rename(server, at, names(150))
  await badge()
  await rename(server, at, names(150, 'Later'))
  const reply = await owner('GET', `${at}/audit/events?limit=500`)
  const { events } = reply.body as { events: ListedEvent[] }
  return { badge, events, change: () => rename(server, at, ['More']) }
}

t.test('a history that was tampered with turns the badge red', async (t) => {
  const { badge, events } = await scene(t)
  const listed = events[10]
  if (!listed) throw new Error('no event')

  t.match(await badge(undefined, listed), { state: 'verified', label: 'Event verified' })
  t.match(await badge(), { state: 'verified', label: 'History verified' })

  const attacks = {
    'an event': [
      onlyAt(
        'export',
        replaced(/"Name \d+"/, () => '"Forged"'),
      ),
      /was altered: it is not the one/,
    ],
    'a tile': [onlyAt('tile/0/000', flipped(4_000)), /do not lead to the signed root/],
    'a signature': [
      onlyAt(
        'checkpoint',
        replaced(/(?<=— \S+ .{30})./, (char) => (char === 'A' ? 'B' : 'A')),
      ),
      /does not belong to this checkpoint/,
    ],
    'a checkpoint': [
      onlyAt(
        'checkpoint',
        replaced(/\n\d+\n/, () => '\n999\n'),
      ),
      /does not belong to this checkpoint/,
    ],
  } as const
  for (const [name, [tamper, sentence]] of Object.entries(attacks)) {
    const red = await badge(tamper, listed)
    t.match(red, { state: 'failed', label: 'Verification failed', text: sentence }, name)
  }

  const forged = { ...listed, data: { name: 'Forged' } }
  t.match(await badge(undefined, forged), {
    state: 'failed',
    text: /^The event at index 10 has another data\.name in the signed history than on this page\./,
  })
  t.match(await badge(), { state: 'verified' }, 'and the truth is green again')
})

t.test('an older checkpoint turns the badge red', async (t) => {
  const { badge, change } = await scene(t)
  let older: Buffer | undefined
  const record = onlyAt('checkpoint', (_, bytes) => {
    older = bytes
    return bytes
  })
  const replay = onlyAt('checkpoint', (_, bytes) => older ?? bytes)
  t.match(await badge(record), { state: 'verified' })
  await change()
  t.match(await badge(), { state: 'verified' })
  t.match(await badge(replay), {
    state: 'failed',
    text: /^Events were removed: the history has \d+ events, but had \d+ events on/,
  })
})

t.test('an event of a chat is verified with its encrypted texts', async (t) => {
  const server = await startApp(t)
  const { at, organization_id, owner, provisioned, key } = await partner(server)
  const { user_id } = await provisioned('ann@example.com')
  const chat = await key('orchestrator:invoke', 'users:delegate')
  await chat('POST', '/api/external/v1/chat/completions', {
    session_id: 's-1',
    on_behalf_of: user_id,
    messages: [{ role: 'user', content: 'the secret word' }],
  })
  const { events } = (await owner('GET', `${at}/audit/events?limit=500`)).body as {
    events: ListedEvent[]
  }
  const verifier = logVerifier({ ...organizationLog(organization_id), fetch: fetchOf(server) })
  let encrypted = 0
  for (const [index, listed] of events.entries()) {
    const result = await verifier.verifyEvent(listed, { likely: index })
    t.match(result, { kind: 'verified', event: { index } }, listed.type)
    if (result.kind === 'verified' && 'event' in result) encrypted += result.event.encrypted.length
  }
  t.ok(encrypted > 0)
})

t.test('a forked history turns the badge red', async (t) => {
  const [original, copy] = [await newFolder(t), await newFolder(t)]
  const first = await startApp(t, { DATA_DIR: original })
  const { at, organization_id } = await withOrganization(first)
  const memory = memoryDouble()
  const log = organizationLog(organization_id)
  const badgeAt = async (served: StartedApp) =>
    badgeOf(await logVerifier({ ...log, fetch: fetchOf(served), memory }).verifyLog())
  await rename(first, at, names(5))
  await first.stop()
  await cp(original, copy, { recursive: true })

  const server = await startApp(t, { DATA_DIR: original })
  t.match(await badgeAt(server), { state: 'verified', label: 'Signature verified' })
  await rename(server, at, names(3, 'Truth'))
  t.match(await badgeAt(server), { state: 'verified', label: 'History verified' })

  const fork = await startApp(t, { DATA_DIR: copy })
  const older = await badgeAt(fork)
  t.match(older, {
    state: 'failed',
    text: /^Events were removed: the history has \d+ events, but had/,
  })
  await rename(fork, at, names(3, 'Forged'))
  t.match(await badgeAt(fork), {
    state: 'failed',
    text: /^The history was rewritten: its \d+ events are not those of/,
  })
  await rename(fork, at, names(2, 'More'))
  const forked = await badgeAt(fork)
  t.match(forked, {
    state: 'failed',
    text: /^The server cannot prove that its \d+ events begin with/,
  })
  t.match(forked.evidence?.remembered, log.origin)
  t.match(forked.evidence?.served, log.origin)
  t.match(await badgeAt(server), { state: 'verified' }, 'the original is green')
})
