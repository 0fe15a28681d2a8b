import { execFileSync, spawn } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import {
  ANY,
  ErrorType,
  type EventData,
  EventStoreDBClient,
  eventTypeFilter,
  jsonEvent,
  NO_STREAM,
  type Position,
  START,
  streamNameFilter,
} from '@eventstore/db-client'
import t, { type Test } from 'tap'
import { eventStoreDbEventStore } from '../../../src/adapters/eventstoredb/event-store.ts'
import { START as beginning } from '../../../src/ports/event-store.ts'
import { eventStoreDbCluster } from '../../support/eventstoredb-double/cluster.ts'
import { eventStoreDbDouble } from '../../support/eventstoredb-double/double.ts'
import { eventually } from '../../support/eventually.ts'
import { gathered, noted } from '../../support/noted.ts'

// What a real server of version 23.10 did with this client, seen on the double.

type Opening = Parameters<typeof eventStoreDbDouble>[0]

const opened = async (t: Test, options: Opening = { neighbours: false }) => {
  const double = await eventStoreDbDouble(options)
  const client = EventStoreDBClient.connectionString(double.url)
  t.teardown(async () => {
    await client.dispose()
    double.stop()
  })
  return { double, client }
}

const event = (text = 'x', id = randomUUID()): EventData =>
  jsonEvent({ id, type: 'Noted', data: { text }, metadata: { by: 'someone' } })

const kind = (type: ErrorType) => ({ type, message: /(?:)/ })

const all = async <Item>(items: AsyncIterable<Item>): Promise<Item[]> => {
  const gathered: Item[] = []
  for await (const item of items) gathered.push(item)
  return gathered
}

t.test('appends', async (t) => {
  const { client } = await opened(t)
  const events = [event('a'), event('b')]
  const first = await client.appendToStream('s-1', events, { expectedRevision: NO_STREAM })
  t.match(first, { success: true, nextExpectedRevision: 1n })
  const stored = await all(client.readStream('s-1'))
  t.equal(stored.length, 2)
  const [firstPosition, secondPosition] = stored.map(({ event }) => event?.position as Position)
  t.strictSame(first.position, secondPosition, 'the position is that of the last event')
  t.ok(
    firstPosition &&
      secondPosition &&
      firstPosition.commit < secondPosition.commit &&
      firstPosition.commit === firstPosition.prepare,
  )
  await client.appendToStream('s-1', event('c'), { expectedRevision: 1n })
  for (const expectedRevision of [NO_STREAM, ANY] as const)
    t.strictSame(
      await client.appendToStream('s-1', events, { expectedRevision }),
      first,
      'the same ids again answer the first outcome',
    )
  const stale = client.appendToStream('s-1', [events[0] as EventData, event()], {
    expectedRevision: NO_STREAM,
  })
  await t.rejects(stale, kind(ErrorType.WRONG_EXPECTED_VERSION), 'but not with a new second')
  await t.rejects(stale, { message: '', actualVersion: 2n, streamName: 's-1' })
  t.match(await client.appendToStream('s-2', []), { success: true, nextExpectedRevision: 0n })
  t.match(await client.appendToStream('s-3', event('x'.repeat(900_000))), { success: true })
  await t.rejects(
    client.appendToStream('s-4', event('x'.repeat(1_200_000))),
    kind(ErrorType.MAXIMUM_APPEND_SIZE_EXCEEDED),
  )
  await t.rejects(all(client.readStream('s-4')), kind(ErrorType.STREAM_NOT_FOUND))
  const bare = jsonEvent({ type: 'Bare', data: {} })
  await client.appendToStream('s-5', bare)
  t.equal((await all(client.readStream('s-5')))[0]?.event?.metadata, undefined)
})

t.test('positions that are no event’s', async (t) => {
  const { double, client } = await opened(t)
  for (let n = 0; n < 3; n++) await client.appendToStream('s-1', event(`${n}`))
  const position = double.log.stream('s-1')?.[1]?.position ?? 0n
  const at = (commit: bigint) => ({ fromPosition: { commit, prepare: commit } })
  const read = await all(client.readAll(at(position)))
  t.equal(read[0]?.event?.revision, 1n, 'a read begins with the event')
  const source = client.subscribeToAll(at(position))
  for await (const { event } of source) {
    t.equal(event?.revision, 2n, 'a subscription goes on after it')
    break
  }
  for (const beside of [position - 1n, position + 1n]) {
    const failed = all(client.readAll(at(beside)))
    await t.rejects(failed, {
      type: ErrorType.UNKNOWN,
      message: /Unexpected ReadAllResult: Error/,
    })
    const [error] = await once(client.subscribeToAll(at(beside)), 'error')
    t.match(error, kind(ErrorType.UNKNOWN))
    t.match(error.message, 'Exception was thrown by handler')
  }
  t.strictSame(await all(client.readAll(at(1n << 40n))), [], 'past the end there is nothing')
})

t.test('the same ids while the first are not committed yet', async (t) => {
  const { double, client } = await opened(t, { givesUpMs: 20 })
  const first = event()
  const commits = double.holdCommits()
  const append = client.appendToStream('s-1', first, { expectedRevision: NO_STREAM })
  await eventually(async () => double.received() === 1)
  await t.rejects(
    client.appendToStream('s-1', first, { expectedRevision: NO_STREAM }),
    kind(ErrorType.DEADLINE_EXCEEDED),
    'the second is dropped',
  )
  const any = client.appendToStream('s-1', first, { expectedRevision: ANY })
  await eventually(async () => double.received() === 3)
  t.equal(double.log.stream('s-1'), undefined, 'nobody reads it yet')
  commits.release()
  t.strictSame(await any, await append, 'with any both are answered')
  const again = client.appendToStream('s-1', first, { expectedRevision: NO_STREAM })
  t.strictSame(await again, await append, 'once more: the first outcome')
})

t.test('a subscription hands over its events one by one', async (t) => {
  const { client } = await opened(t)
  await client.appendToStream(
    's-1',
    Array.from({ length: 50 }, (_, n) => event(`${n}`)),
  )
  const source = client.subscribeToAll({ filter: eventTypeFilter({ prefixes: ['Noted'] }) })
  const batches: number[] = []
  const reading = () => {
    let size = 0
    while (source.read() !== null) size++
    batches.push(size)
  }
  source.on('readable', reading)
  await eventually(async () => batches.reduce((sum, size) => sum + size, 0) === 50)
  t.ok(batches.length >= 50)
  await source.unsubscribe()
})

t.test('what others write', async (t) => {
  const { client } = await opened(t, { neighbours: true })
  for (let n = 0; n < 15; n++) await client.appendToStream('ours.s-1', event(`${n}`))
  const others = (await all(client.readAll()))
    .map(({ event }) => event)
    .filter((event) => event && !/^ours|^\$/.test(event.streamId))
  t.ok(others.some((event) => event?.isJson === false && event.data instanceof Uint8Array))
  t.ok(others.some((event) => event?.isJson && event.metadata === undefined))
  t.ok(others.some((event) => event?.isJson && event.type === 'CartClosed' && event.metadata))
  t.ok(others.some((event) => event?.type === 'Noted' && event.streamId === 's-1'))
})

t.test('filters on the server, and how far it is', async (t) => {
  const { double, client } = await opened(t)
  const events = Array.from({ length: 100 }, () => event())
  await client.appendToStream('other-1', events)
  await client.appendToStream('ours.s-1', event('a'))
  await client.appendToStream('other-1', events)
  const checkpoints: bigint[] = []
  const filter = streamNameFilter({
    prefixes: ['ours.', 'mine.'],
    maxSearchWindow: 10,
    checkpointInterval: 3,
    checkpointReached: async (_, { commit }) => {
      checkpoints.push(commit)
    },
  })
  const source = client.subscribeToAll({ fromPosition: START, filter })
  const seen: string[] = []
  source.on('data', ({ event }) => seen.push(event?.streamId ?? ''))
  const places = Math.floor(double.log.all.length / 30)
  await eventually(async () => checkpoints.length === places)
  t.strictSame(seen, ['ours.s-1'])
  t.strictSame(
    checkpoints,
    Array.from({ length: places }, (_, n) => double.log.all[30 * (n + 1) - 1]?.position),
    'which is where events are',
  )
  await client.appendToStream('mine.s-2', event('b'))
  await eventually(async () => seen.length === 2)
  await source.unsubscribe()
})

t.test('a server that dies ends a subscription with one error', async (t) => {
  const { double, client } = await opened(t)
  const source = client.subscribeToAll()
  const errors: Error[] = []
  source.on('error', (error) => errors.push(error)).on('data', () => undefined)
  await once(source, 'confirmation')
  double.stop()
  await eventually(async () => errors.length > 0)
  await double.start()
  t.match(errors[0], { type: ErrorType.UNAVAILABLE })
  t.equal(errors.length, 1)
})

t.test('a cluster', async (t) => {
  const open = async (t: Test, urlOf: (hosts: string[]) => string) => {
    const cluster = await eventStoreDbCluster({ givesUpMs: 20 })
    t.teardown(cluster.stop)
    return { cluster, client: EventStoreDBClient.connectionString(urlOf(cluster.hosts)) }
  }
  const several = (hosts: string[]) => `esdb://${hosts.join(',')}?tls=false`

  await t.test('without a leader', async (t) => {
    for (const [how, type, message] of [
      ['unavailable', ErrorType.UNAVAILABLE, ''],
      ['not ready', ErrorType.UNKNOWN, 'Could not recognize Server Is Not Ready'],
      ['hang', ErrorType.DEADLINE_EXCEEDED, ''],
    ] as const) {
      const { cluster, client } = await open(t, several)
      await client.appendToStream('s-1', event())
      cluster.killLeader('leaderless', how)
      const other = EventStoreDBClient.connectionString(cluster.url)
      const refused = other.appendToStream('s-1', event())
      await t.rejects(refused, { type, message: new RegExp(message) }, how)
      cluster.electLeader()
      const third = EventStoreDBClient.connectionString(cluster.url)
      t.match(await third.appendToStream('s-1', event()), { nextExpectedRevision: 1n })
    }
  })

  await t.test('discovery that fails once', async (t) => {
    const quick = (hosts: string[]) => `${several(hosts)}&maxDiscoverAttempts=1`
    const { cluster, client } = await open(t, quick)
    cluster.stop()
    await t.rejects(client.appendToStream('s-1', event()), /Failed to discover after 1 attempts/)
    await cluster.revive()
    cluster.electLeader()
    await t.rejects(
      client.appendToStream('s-1', event()),
      /Failed to discover/,
      'and for ever after, though the cluster is back',
    )
    const other = EventStoreDBClient.connectionString(quick(cluster.hosts))
    t.match(await other.appendToStream('s-1', event()), { success: true })
  })

  await t.test('several hosts with esdb+discover: only the first is asked', async (t) => {
    const { cluster, client } = await open(
      t,
      (hosts) => `esdb+discover://${hosts.join(',')}?tls=false&maxDiscoverAttempts=2`,
    )
    cluster.stopNode(0)
    cluster.electLeader()
    await t.rejects(client.appendToStream('s-1', event()), /Failed to discover/)
  })
})

t.test('TLS and users', async (t) => {
  const path = t.testdir()
  const [cert, key] = [`${path}/cert.pem`, `${path}/key.pem`]
  execFileSync(
    'openssl',
    ['req', '-x509', '-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes'].concat(
      ['-days', '2', '-subj', '/CN=localhost', '-addext', 'subjectAltName=DNS:localhost'],
      ['-out', cert, '-keyout', key],
    ),
    { stdio: 'ignore' },
  )
  const secured = {
    cert: readFileSync(cert, 'utf8'),
    key: readFileSync(key, 'utf8'),
    users: { admin: 'changeit' },
  }
  const double = await eventStoreDbDouble({ secured })
  t.teardown(double.stop)
  const url = (user: string) => `esdb://${user}localhost:${double.port}?tls=true&tlsCAFile=${cert}`
  const denied = kind(ErrorType.ACCESS_DENIED)
  for (const [user, append] of [
    ['', { ...denied }],
    ['admin:wrong@', { ...denied, code: 16 }],
  ] as const) {
    const client = EventStoreDBClient.connectionString(url(user))
    await t.rejects(client.appendToStream('s-1', event()), append)
    await t.rejects(all(client.readAll()), append)
    const store = eventStoreDbEventStore({ url: url(user) })
    await t.rejects(store.append('s-1', 'any', [noted('a')]), { name: 'StoreUnavailable' })
    await t.rejects(store.head(), { name: 'StoreUnavailable' })
    await store.close()
  }
  const client = EventStoreDBClient.connectionString(url('admin:changeit@'))
  t.match(await client.appendToStream('s-1', event()), { success: true })
  const store = eventStoreDbEventStore({ url: url('admin:changeit@') })
  t.equal((await store.append('s-1', 'any', [noted('a')])).revision, 0)
  t.equal((await gathered(store.read('s-1'))).length, 1)
  const feed = store.feed(beginning)[Symbol.asyncIterator]()
  t.equal((await feed.next()).value?.events.length, 1)
  await feed.return?.()
  await store.close()
})

t.test('a double in a process of its own', async (t) => {
  const main = new URL('../../support/eventstoredb-double/main.js', import.meta.url)
  const child = spawn(process.execPath, [main.pathname], { stdio: ['pipe', 'pipe', 'inherit'] })
  t.teardown(() => child.kill())
  const [line] = await once(child.stdout, 'data')
  const store = eventStoreDbEventStore({ url: String(line).trim() })
  t.equal((await store.append('s-1', 'any', [noted('a')])).revision, 0)
  await store.close()
  child.stdin.end()
  t.strictSame(await once(child, 'exit'), [0, null], 'ends with its standard input')
})
