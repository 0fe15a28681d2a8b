import { isIP } from 'node:net'
import { isPublic } from './addresses.ts'

export type AddressOptions = {
  /** Hosts (`host` or `host:port`, in lower case) that may be private, and need no TLS. */
  allowHosts?: readonly string[]
  /** Whether an address may be connected to. */
  isOpen?: (address: string) => boolean
}

export const notPublic = 'the host has an address that is not public'

const ports: Readonly<Record<string, string>> = { 'https:': '443', 'http:': '80' }

const ownName = /(?:^|\.)localhost\.?$/

/** Whether a host is an address that is not open, or this machine's name (RFC 6761). */
const isClosed = (hostname: string, isOpen: (address: string) => boolean): boolean => {
  const bare = hostname.replace(/^\[|\]$/g, '')
  return isIP(bare) ? !isOpen(bare) : ownName.test(hostname)
}

/** Which addresses may be asked, as far as an address itself says. */
export const addressRules = ({ allowHosts = [], isOpen = isPublic }: AddressOptions = {}) => {
  const allowed = new Set(allowHosts)

  const isTrusted = ({ hostname, port, protocol }: URL): boolean =>
    allowed.has(hostname) || allowed.has(`${hostname}:${port || ports[protocol]}`)

  return {
    isTrusted,
    /** Why an address may not be requested. A name may still resolve to a private address. */
    faultOf(url: URL): string | undefined {
      if (!(url.protocol in ports)) return 'only http and https are spoken'
      if (url.username !== '' || url.password !== '')
        return 'a user name or password in the address is refused'
      if (isTrusted(url)) return undefined
      if (url.protocol !== 'https:') return 'only https is allowed'
      return isClosed(url.hostname, isOpen) ? notPublic : undefined
    },
  }
}
