import t from 'tap'
import { isPublic } from '../../../src/adapters/outbound/addresses.ts'

const closed = [
  ['this network', '0.0.0.0', '0.1.2.3'],
  ['private', '10.0.0.1', '172.16.0.1', '172.31.255.255', '192.168.1.1'],
  ['shared (carrier-grade NAT)', '100.64.0.1', '100.127.255.255', '100.100.100.200'],
  ['loopback', '127.0.0.1', '127.255.255.254', '::1'],
  ['link-local and metadata', '169.254.169.254', '169.254.170.2', 'fe80::1', 'fe80::a9fe:a9fe'],
  ['metadata elsewhere', '168.63.129.16', '192.0.0.192', 'fd00:ec2::254'],
  ['documentation', '192.0.2.1', '198.51.100.1', '203.0.113.1', '2001:db8::1', '3fff::1'],
  ['benchmarks', '198.18.0.1', '198.19.255.255', '2001:2::1'],
  ['multicast', '224.0.0.1', '239.255.255.255', 'ff02::1', 'ff0e::1'],
  ['reserved and broadcast', '240.0.0.1', '255.255.255.255'],
  ['6to4', '192.88.99.1', '2002:7f00:1::', '2002:a9fe:a9fe::1', '2002:808:808::1'],
  ['unspecified', '::'],
  ['IPv4-mapped', '::ffff:127.0.0.1', '::ffff:7f00:1', '::ffff:169.254.169.254', '::ffff:8.8.8.8'],
  ['IPv4-compatible', '::127.0.0.1', '::8.8.8.8'],
  ['IPv4-translated', '::ffff:0:127.0.0.1'],
  ['NAT64', '64:ff9b::7f00:1', '64:ff9b::8.8.8.8', '64:ff9b:1::1'],
  ['Teredo and ORCHID', '2001:0:53aa::1', '2001:20::1'],
  ['unique local', 'fc00::1', 'fdff::1'],
  ['site-local', 'fec0::1'],
  ['discard-only', '100::1'],
  ['not yet given out', '4000::1', '5f00::1', 'e000::1'],
  [
    'no addresses',
    '',
    'localhost',
    '1.2.3',
    '127.1',
    '0x7f000001',
    '2130706433',
    '[::1]',
    '::1%lo',
  ],
] as const

for (const [kind, ...addresses] of closed)
  t.test(`closed: ${kind}`, async (t) => {
    for (const address of addresses) t.notOk(isPublic(address), address)
  })

t.test('the public internet is open', async (t) => {
  const open = [
    '1.1.1.1',
    '8.8.8.8',
    '93.184.216.34',
    '100.63.255.255',
    '100.128.0.0',
    '172.15.0.1',
  ]
  const open6 = ['172.32.0.1', '2606:4700::1111', '2a00:1450:4001::1', '2001:4860:4860::8888']
  for (const address of [...open, ...open6]) t.ok(isPublic(address), address)
})
