import { BlockList, isIP } from 'node:net'

/**
 * IPv4 ranges outside the public internet (IANA special-purpose registry), and the internal address
 * of one cloud.
 */
const closed4 = [
  '0.0.0.0/8',
  '10.0.0.0/8',
  '100.64.0.0/10',
  '127.0.0.0/8',
  '168.63.129.16/32',
  '169.254.0.0/16',
  '172.16.0.0/12',
  '192.0.0.0/24',
  '192.0.2.0/24',
  '192.88.99.0/24',
  '192.168.0.0/16',
  '198.18.0.0/15',
  '198.51.100.0/24',
  '203.0.113.0/24',
  '224.0.0.0/4',
  '240.0.0.0/4',
]

/**
 * Of IPv6 only 2000::/3 is public; that leaves out ::, ::1, mapped and NAT64 IPv4, unique local,
 * link-local, site-local and multicast addresses. Within it: protocol assignments (Teredo among
 * them), documentation, 6to4.
 */
const open6 = ['2000::/3']
const closed6 = ['2001::/23', '2001:db8::/32', '2002::/16', '3fff::/20']

const listOf = (ranges: readonly string[], family: 'ipv4' | 'ipv6'): BlockList => {
  const list = new BlockList()
  for (const range of ranges) {
    const [network = '', bits] = range.split('/')
    list.addSubnet(network, Number(bits), family)
  }
  return list
}

const closed = { 4: listOf(closed4, 'ipv4'), 6: listOf(closed6, 'ipv6') }
const open = listOf(open6, 'ipv6')

/** Whether a text is an IP address of the public internet. */
export const isPublic = (address: string): boolean => {
  const family = isIP(address)
  if (family === 4) return !closed[4].check(address, 'ipv4')
  return family === 6 && open.check(address, 'ipv6') && !closed[6].check(address, 'ipv6')
}
