import { EventStoreDBClient } from '@eventstore/db-client'
import t from 'tap'
import {
  deadlineOf,
  refusedAddress,
  withQuickDiscovery,
} from '../../../src/adapters/eventstoredb/address.ts'
import { isNamespace, namespaceOf } from '../../../src/adapters/eventstoredb/namespace.ts'

t.test('addresses that the client does what they say with', async (t) => {
  for (const url of [
    'esdb://127.0.0.1:2113?tls=false',
    'esdb://eventstore',
    ' esdb://eventstore:2113/?tls=true ',
    'esdb://a:2113,b:2113,c:2113?tls=true&tlsCAFile=/etc/ca.crt',
    'esdb://admin:change%40it@a:2113,b:2113,c:2113?tls=true&nodePreference=leader',
    'esdb+discover://cluster.example.com:2113?tls=true',
  ])
    t.equal(refusedAddress(url), undefined, url)
})

t.test('others are refused with the line to write', async (t) => {
  t.match(
    refusedAddress('esdb+discover://a:2113,b:2113,c:2113?tls=true'),
    /asks only the first: write esdb:\/\/a:2113,b:2113,c:2113\?tls=true$/,
  )
  t.match(
    refusedAddress('esdb+discover://admin:changeit@a,b?tls=true'),
    /write esdb:\/\/admin:…@a,b\?tls=true$/,
    'without the password',
  )
  for (const url of ['', 'nothing', 'http://a:2113', 'esdb://', 'esdb://a:2113 b:2113'])
    t.type(refusedAddress(url), 'string', url)
  t.match(refusedAddress('esdb://a:2113;b:2113?tls=false'), '"a:2113;b:2113"')
  t.match(refusedAddress('esdb://a?ThrowOnAppendFailure=false'), 'leave the option out')
  t.match(refusedAddress('esdb://a?tls=true&tlsVerifyCert=false'), 'give tlsCAFile=')
})

t.test('discovery fails early, unless the address says otherwise', async (t) => {
  const quick = '?gossipTimeout=1&maxDiscoverAttempts=1'
  t.equal(withQuickDiscovery('esdb://a,b'), `esdb://a,b${quick}`)
  t.equal(withQuickDiscovery('esdb://a,b/'), `esdb://a,b${quick}`)
  t.equal(
    withQuickDiscovery('esdb://a,b?tls=true&gossipTimeout=3'),
    'esdb://a,b?tls=true&gossipTimeout=3&maxDiscoverAttempts=1',
  )
  t.doesNotThrow(() =>
    EventStoreDBClient.connectionString(withQuickDiscovery('esdb://u:p@a,b/?tls=true')),
  )
})

t.test('how long a request may take', async (t) => {
  t.equal(deadlineOf('esdb://a?tls=false&defaultDeadline=300'), 300)
  t.equal(deadlineOf('esdb://a?tls=false'), undefined)
})

t.test('namespaces', async (t) => {
  for (const name of ['reprise', 'Reprise-2', 'a', 'acme_test']) t.ok(isNamespace(name), name)
  for (const name of ['', '$all', '2nd', 'a.b', 'a b', 'é', 'x'.repeat(65)]) {
    t.notOk(isNamespace(name), name)
    t.throws(() => namespaceOf(name), TypeError)
  }
  const { onServer, has, inPort } = namespaceOf('acme')
  t.equal(onServer('session-1'), 'acme.session-1')
  t.equal(inPort('acme.session-1'), 'session-1')
  t.ok(has('acme.session-1'))
  for (const other of ['session-1', 'acme2.session-1', 'acme', '$$acme.session-1'])
    t.notOk(has(other), other)
})
